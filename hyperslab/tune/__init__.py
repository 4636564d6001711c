"""A user's own file: measured in other layouts, advised on, and rewritten in bounded memory.

`bench`, `advice` and `rechunk` are the three commands. Shared by them are `specs` (what is typed,
and the layouts and reads that it means), `report`, and `hyperslab.io.source`, which describes and
reads any file. Copies are planned in `copy_plan` (memory), cut in `slabs`, made and compared in
`passes`; `partial` gives them their name at the end. A format is known to `hyperslab.io` first;
here it needs its ending in `rechunk`, and a name that people type in `specs.parse`.
"""
