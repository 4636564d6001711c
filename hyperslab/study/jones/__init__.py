"""The experiments of Jones, Blower, Lawrence and Osprey 2016."""
