"""What a VRM file says about an avatar: its name, authors and permissions."""

import enum
import functools
from typing import Annotated

import msgspec

from sinew.sim.scene.params import param

LICENCE = "https://vrm.dev/licenses/1.0/"
TEXT_MAX = 4096
Text = Annotated[str, msgspec.Meta(max_length=TEXT_MAX)]

_about = functools.partial(param, group="About")
_may = functools.partial(param, group="Permissions")


class AvatarUser(enum.Enum):
    AUTHOR = "author"
    LICENSED = "licensed"
    EVERYONE = "everyone"


class CommercialUse(enum.Enum):
    PERSONAL = "personal"
    PERSONAL_PROFIT = "personal-profit"
    CORPORATION = "corporation"


class CreditNotation(enum.Enum):
    REQUIRED = "required"
    UNNECESSARY = "unnecessary"


class Modification(enum.Enum):
    PROHIBITED = "prohibited"
    ALLOWED = "allowed"
    REDISTRIBUTED = "redistributed"


class AvatarMeta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Source: VRM Consortium, VRMC_vrm 1.0, meta; the defaults are its strictest permissions."""

    name: Annotated[Text, _about("Name of the avatar; required.")] = ""
    authors: Annotated[Text, _about("Authors, separated by semicolons; required.")] = ""
    accept_licence: Annotated[bool, _about(
        f"Accept the VRM Public License 1.0 ({LICENCE}) as its licence; required.", label="VRM Public License 1.0",
    )] = False  # fmt: skip
    version: Annotated[Text, _about("Version of the avatar.")] = ""
    copyright: Annotated[Text, _about("Copyright notice.")] = ""
    contact: Annotated[Text, _about("Contact of the authors.")] = ""
    third_party: Annotated[Text, _about("Licences of parts of others.", label="Third-party licences")] = ""
    other_licence: Annotated[Text, _about("Address of another licence besides.", label="Other licence")] = ""
    thumbnail: Annotated[bool, _about("Store a square image of the avatar.")] = True
    user: Annotated[AvatarUser, _may("Who may act as the avatar; licensed are people with a licence of their own.")] = (
        AvatarUser.AUTHOR
    )
    commercial: Annotated[CommercialUse, _may("Commercial use.")] = CommercialUse.PERSONAL
    credit: Annotated[CreditNotation, _may("Whether the authors must be named.")] = CreditNotation.REQUIRED
    modification: Annotated[Modification, _may("Whether others may change it, and redistribute the result.")] = (
        Modification.PROHIBITED
    )
    redistribution: Annotated[bool, _may("Allow others to distribute it.")] = False
    violent: Annotated[bool, _may("Allow excessively violent use.", label="Violent use")] = False
    sexual: Annotated[bool, _may("Allow excessively sexual use.", label="Sexual use")] = False
    political: Annotated[bool, _may("Allow political or religious use.", label="Political use")] = False
    antisocial: Annotated[bool, _may("Allow antisocial or hateful use.", label="Antisocial use")] = False

    @property
    def author_list(self) -> list[str]:
        return [author for part in self.authors.split(";") if (author := part.strip())]

    @property
    def missing(self) -> list[str]:
        """Names of required values that are missing."""
        given = {"name": self.name.strip(), "authors": self.author_list, "accept_licence": self.accept_licence}
        return [name for name, value in given.items() if not value]
