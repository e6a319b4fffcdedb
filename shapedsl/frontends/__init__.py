"""Anything → IR. Each frontend expands what only it knows (imports, consts, lets, type names), then calls `assemble`."""
