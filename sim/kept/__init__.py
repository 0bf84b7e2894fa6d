"""Steps of simulations that are kept, so that they can be shown again and gone on from with the same bits."""
