"""The objects that users' modules hold while they are imported: light, unread, importing nothing.

`shapedsl.annotations`, `shapedsl.dims` and `shapedsl.dtypes` make them; `frontends.annotated` reads them.
"""
