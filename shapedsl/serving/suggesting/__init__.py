"""From a profile to a spec, and to the cases and buckets that waste least."""
