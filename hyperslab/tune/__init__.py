"""A user's own file: measured in other layouts, advised on, and rewritten in bounded memory.

`bench`, `advice` and `rechunk` are the three commands, with their options in a `command` module.
Shared by them are `specs` (what is typed, and the layouts and reads that it means), `report`, and
`hyperslab.io.source`, which describes and reads any file. Copies are planned in `copy_plan`
(memory), cut in `slabs`, made and compared in `passes`, and named at their end by `partial`.

A format is known to `hyperslab.io` first (`layout`, a writer of `creation`, a source in `sources`,
a line in `source.reopen`). Here it then needs in `rechunk` the ending of its files; a name for it
that people type goes into `specs.parse`.
"""
