"""The paper's seven datasets: where each is published, and how its archive is read (class last)."""

import io

from faithkit_paper.archives import csv_rows, read_gzip, tar_member, zip_member
from faithkit_paper.published import Published, Rows

UCI = "https://archive.ics.uci.edu/static/public"


def adult() -> Published:
    """Return persons of the US census of 1994 (UCI's Adult), and whether they earn over 50,000 dollars."""
    header = (
        "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
        "capital-gain capital-loss hours-per-week native-country"
    )
    checksum = "aaed765a93d19cda249f2ad8390860454449d7b1ecd5fc9c19de63d99c17adea"
    return Published("adult", f"{UCI}/2/adult.zip", tuple(header.split()), _adult, checksum)


def _adult(archive: bytes) -> Rows:
    for member in ("adult.data", "adult.test"):
        for *features, label in csv_rows(zip_member(archive, member)):
            if features and not features[0].startswith("|"):  # the second file starts with a comment
                yield [*features, label.rstrip(".")]


def avila() -> Published:
    """Return rows of the Avila Bible as measurements of the writing (UCI's Avila), and their copyists."""
    header = (
        "intercolumnar distance,upper margin,lower margin,exploitation,row number,modular ratio,"
        "interlinear spacing,weight,peak number,modular ratio/interlinear spacing"
    )
    checksum = "62264390c0a8a1f9c10e3f41770ee2d9a2afd37b3e3ed2fd5acab09ebcc04e53"
    return Published("avila", f"{UCI}/459/avila.zip", tuple(header.split(",")), _avila, checksum)


def _avila(archive: bytes) -> Rows:
    inner = zip_member(archive, "avila.zip")
    for member in ("avila/avila-tr.txt", "avila/avila-ts.txt"):
        yield from csv_rows(zip_member(inner, member))


def bank_marketing() -> Published:
    """Return calls of a Portuguese bank (UCI's Bank Marketing), and whether they sold a deposit."""
    header = (
        "age job marital education default balance housing loan contact day month duration campaign pdays "
        "previous poutcome"
    )
    url = f"{UCI}/222/bank+marketing.zip"
    checksum = "3d52d40c478cfe4b1509322d3c57b1a141166866d6dc79f348ae06dd7e90bbc7"
    return Published("bank-marketing", url, tuple(header.split()), _bank, checksum)


def _bank(archive: bytes) -> Rows:
    rows = csv_rows(zip_member(zip_member(archive, "bank.zip"), "bank-full.csv"), delimiter=";")
    next(rows)  # its header
    return rows


def chess() -> Published:
    """Return end games of king and rook against king (UCI's krkopt), and the number of moves to mate."""
    pieces = ("white-king", "white-rook", "black-king")
    header = tuple(f"{piece}-{coordinate}" for piece in pieces for coordinate in ("file", "rank"))
    checksum = "99761ce6ab24a925085a6ce4c144df1f8ed3ba6e316c8ed9341f18a6824a6306"
    return Published("chess", f"{UCI}/23/chess+king+rook+vs+king.zip", header, _chess, checksum)


def _chess(archive: bytes) -> Rows:
    return csv_rows(zip_member(archive, "krkopt.data"))


def covtype() -> Published:
    """Return patches of forest in Colorado (UCI's Covertype), and their type of cover, one of seven."""
    measurements = (
        "Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology "
        "Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm "
        "Horizontal_Distance_To_Fire_Points"
    )
    areas = (f"Wilderness_Area{i}" for i in range(1, 5))
    soils = (f"Soil_Type{i}" for i in range(1, 41))
    checksum = "f0d34e40fafb38cdcbc48cc8c8bf7bdeb3c4a55503b0e430153cb41c94717429"
    return Published(
        "covtype", f"{UCI}/31/covertype.zip", (*measurements.split(), *areas, *soils), _covtype, checksum
    )


def _covtype(archive: bytes) -> Rows:
    return csv_rows(read_gzip(io.BytesIO(zip_member(archive, "covtype.data.gz"))))


def heart() -> Published:
    """Return patients of Cleveland (UCI's Heart Disease, processed), and whether they have the disease."""
    header = "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal"
    checksum = "0c2c796fda806af69d9768bbde7fd2db0ebde4849ccded594d9432920ea0d27b"
    return Published("heart", f"{UCI}/45/heart+disease.zip", tuple(header.split()), _heart, checksum)


def _heart(archive: bytes) -> Rows:
    for *features, disease in csv_rows(zip_member(archive, "processed.cleveland.data")):
        yield [*features, str(int(int(float(disease)) > 0))]


def rt_polarity() -> Published:
    """Return sentences of film reviews (Pang and Lee's sentence polarity 1.0) in ASCII."""
    url = "https://www.cs.cornell.edu/people/pabo/movie-review-data/rt-polaritydata.tar.gz"
    checksum = "cd46c025fe24d764154fb6a32b646a4a9fb7f8662da873c5dc39b41288f5ed49"
    return Published("rt-polarity", url, ("text",), _rt_polarity, checksum)


def _rt_polarity(archive: bytes) -> Rows:
    for label in ("neg", "pos"):
        lines = tar_member(archive, f"rt-polaritydata/rt-polarity.{label}").decode("cp1252").split("\n")
        yield from ([line.strip(), label] for line in lines if line.strip())
