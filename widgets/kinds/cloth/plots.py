"""Curves of cloths: energies and strain."""

from widgets.plots import Channel, Plots

CHANNELS = (
    Channel("kinetic", "J", "Energy of the motion.", ("#56b4e9", "#0072b2")),
    Channel("elastic", "J", "Energy in the stretched springs.", ("#e69f00", "#b37700")),
    Channel("potential", "J", "Energy of the height, counted from the world's origin.", ("#2fbf94", "#00795a")),
    Channel("total", "J", "Sum of the energies."),
    Channel(
        "strain", "%", "Largest lengthening of a thread over its length at rest.", ("#f08050", "#c04e00"), is_right=True
    ),
)


def cloth_plots() -> Plots:
    return Plots(CHANNELS, "mdi6.flag-variant-outline", "a cloth")


def cloth_values(kinetic: float, elastic: float, potential: float, strain: float) -> dict[str, float]:
    """Values by channel, of energies [J] and a strain as a factor."""
    total = kinetic + elastic + potential
    return {
        "kinetic": kinetic, "elastic": elastic, "potential": potential, "total": total, "strain": 100.0 * strain
    }  # fmt: skip
