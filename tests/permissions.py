from sinew.app.project.permitted import Permitted

OWN = Permitted(outside=False, kernels=True)
"""What projects of the tests may do."""
