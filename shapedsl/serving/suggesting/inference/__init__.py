"""From observed calls to a spec: `merged` → `columns` → `relations` → `naming` → `infer`."""
