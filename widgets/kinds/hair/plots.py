"""Curves of hair: energy of the motion, stretch and bend."""

from widgets.plots import Channel, Plots

CHANNELS = (
    Channel("energy", "J/kg", "Energy of the motion of the guides, for each kilogram.", ("#56b4e9", "#0072b2")),
    Channel("stretch", "%", "Largest lengthening of a segment over its length.", ("#f08050", "#c04e00"), is_right=True),
)


def hair_plots() -> Plots:
    return Plots(CHANNELS, "mdi6.hair-dryer-outline", "hair")
