"""Files of one array in several layouts, as the session of a run writes them."""

from hyperslab.io.experiment import File


def in_layouts(folder, array, layouts):
    """Write an array in each layout; the files by the layouts' names."""
    files = {
        name: File(folder / f"{name}{layout.suffix}", array, layout)
        for name, layout in layouts.items()
    }
    array.write({file.path: file.layout for file in files.values()}, folder / "data")
    return files
