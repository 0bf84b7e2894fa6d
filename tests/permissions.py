from sinew.app.files.permitted import Permitted

OWN = Permitted(outside=False, kernels=True)
"""What projects of the tests may do."""
