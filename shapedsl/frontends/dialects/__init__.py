"""Other tools' notations for shapes → dims: text of a `Source` in, IR out.

Nothing of those tools is imported. What stands in an annotation is known by the attributes that it has
(jaxtyping) or by the text and the decorator beside it (Pyrefly's ``Shaped``), so that objects that Python
made and stand-ins made of source text are read alike.
"""
