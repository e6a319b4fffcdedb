"""Pictures of traffic and of what alternatives take: what is drawn, and how as text and as SVG."""
