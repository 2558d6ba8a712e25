"""Captures with offloads, on several interfaces and in every container: they are read correctly, or
refused in one line."""

import gzip
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kneepoint.analysis import over_time
from kneepoint.common.errors import KneepointError
from kneepoint.tools.import_files.measurement import Measurement
from kneepoint.tools.import_files.read import read_measurements
from tests.tools.import_files.captures import (
    HOSTS,
    Form,
    Interface,
    Seen,
    Segment,
    bare,
    block,
    cooked,
    cooked_2,
    datagram,
    labelled,
    merged,
    pcap,
    pcapng,
    point_to_point,
    section,
    tagged,
    transfer,
)

FORMS = {
    "IPv4": Form(),
    "IPv6": Form(is_ip6=True),
    "no timestamps": Form(has_timestamps=False),
    "no identifications": Form(has_numbers=False),
    "IPv6, no timestamps": Form(is_ip6=True, has_timestamps=False),
}


def read(*captures: tuple[Path, bytes]) -> list[Measurement]:
    for path, content in captures:
        path.write_bytes(content)
    return read_measurements([path for path, _ in captures])


def pair(folder: Path, sent: bytes, came: bytes) -> Measurement:
    (found,) = read((folder / "sender.pcap", sent), (folder / "receiver.pcap", came))
    return found


def in_time(seen: Seen) -> Seen:
    """Returns the packets in the order of time, and of capture."""
    return sorted(seen, key=lambda each: each[0])


# Gaps ----------------------------------------------------------------------------------------


def exchange(
    kept: Callable[[float], float | None] = lambda at_s: at_s, with_answers: bool = True
) -> tuple[Seen, Seen]:
    """Datagrams every 5 ms, answers every 50 ms; `kept` returns when the link takes a packet, or
    None."""
    sent: Seen = []
    came: Seen = []
    for k in range(4000):
        at_s, data = 100 + k / 200, datagram(0, k, b"%8d" % k * 150)
        sent.append((at_s, data))
        if (taken_s := kept(at_s)) is not None:
            came.append((taken_s + 0.02, data))
        if with_answers and k % 10 == 0 and taken_s is not None:
            answer = datagram(1, k, b"%8d" % k)
            came.append((at_s + 0.021, answer))
            if (taken_s := kept(at_s + 0.021)) is not None:
                sent.append((taken_s + 0.02, answer))
    return in_time(sent), in_time(came)


def in_hole(at_s: float) -> bool:
    return 105 <= at_s < 105.8


def test_a_hole_in_the_receivers_capture_is_told_by_what_came_back(tmp_path: Path) -> None:
    sent, came = exchange()
    with pytest.raises(KneepointError, match=r"16 packets came from .*which lacks them"):
        pair(tmp_path, pcap(sent), pcap([each for each in came if not in_hole(each[0])]))
    thinned = [each for k, each in enumerate(came) if k % 50]
    with pytest.raises(KneepointError, match="which lacks them"):
        pair(tmp_path, pcap(sent), pcap(thinned))
    assert pair(tmp_path, pcap(sent), pcap(came)).flows[0]["loss"] == 0
    # A capture of one direction is no evidence.
    assert pair(tmp_path, pcap(sent), pcap(exchange(with_answers=False)[1])).flows[0]["loss"] == 0


@pytest.mark.parametrize("with_answers", [True, False])
def test_a_silence_that_may_be_an_outage_or_a_hole_is_said(
    tmp_path: Path, with_answers: bool
) -> None:
    ends = exchange(lambda s: None if in_hole(s) else s, with_answers)
    found = pair(tmp_path, *map(pcap, ends))
    assert found.flows[0]["loss"] == pytest.approx(160 / 4000)
    assert found.flows[0]["delay_p95_ms"] == pytest.approx(20, abs=0.0011)  # times are in whole us
    (said,) = [note for note in found.notes if "receiver.pcap has no packet for 0.8" in note]
    assert " 160 packets" in said


def test_what_a_link_holds_back_or_drops_here_and_there_is_no_silence(tmp_path: Path) -> None:
    held = exchange(lambda at_s: 105.8 + at_s / 1e6 if in_hole(at_s) else at_s, False)
    assert pair(tmp_path, *map(pcap, held)).notes == ()
    lossy = exchange(lambda at_s: None if in_hole(at_s) and round(at_s * 200) % 8 else at_s, False)
    assert pair(tmp_path, *map(pcap, lossy)).notes == ()


@pytest.mark.parametrize("order", "<>")
def test_what_a_capture_says_that_it_dropped(tmp_path: Path, order: str) -> None:
    sent, came = exchange()
    device = Interface(order=order)

    def ended(**options: int) -> Measurement:
        content = pcapng(came, device) + device.statistics(0, ifrecv=9000, **options)
        return pair(tmp_path, pcap(sent), content)

    assert ended(ifdrop=0, osdrop=0).notes == ()
    assert any(
        "receiver.pcap: the capture lacks 7 packets" in note
        for note in ended(ifdrop=3, osdrop=4).notes
    )
    with pytest.raises(KneepointError, match=r"receiver\.pcap: .* 900 packets"):
        ended(ifdrop=900)
    torn = pcapng(came, device) + device.statistics(1, ifdrop=3)
    with pytest.raises(KneepointError, match="statistics is damaged"):
        pair(tmp_path, pcap(sent), torn)


# Offloads -------------------------------------------------------------------------------------


MOST = ((65_000, 0), (0, 65_000), (65_000, 65_000), (9000, 20_000))
"""The longest segments after merging, at each end."""


@pytest.mark.parametrize(
    ("form", "most"),
    [(form, MOST[(k + more) % 4]) for k, form in enumerate(FORMS.values()) for more in (0, 1)],
)
def test_both_ends_are_those_of_the_link_whatever_was_merged(
    tmp_path: Path, form: Form, most: tuple[int, int]
) -> None:
    known = transfer(most[0] + most[1], form)
    ends = merged(known.sender, form, most[0]), merged(known.receiver, form, most[1])
    assert len(ends[0]) + len(ends[1]) < 0.9 * (len(known.sender) + len(known.receiver))
    found = pair(tmp_path, pcap(form.seen(ends[0])), pcap(form.seen(ends[1]), snaplen=128))
    assert found.metrics["packets_sent"] == known.sent
    assert found.metrics["packets_delivered"] == known.sent - known.lost
    loss = float(str(found.flows[0]["loss"]))
    assert loss == pytest.approx(known.lost / known.sent, rel=0.05) and known.lost > 20
    p95_ms = 1000 * np.percentile(known.delays_s, 95, method="nearest")
    assert found.flows[0]["delay_p95_ms"] == pytest.approx(p95_ms, abs=0.06)  # a burst's length
    apart = pair(tmp_path, pcap(form.seen(known.sender)), pcap(form.seen(known.receiver)))
    for name, value in apart.metrics.items():
        assert found.metrics[name] == pytest.approx(value, rel=1e-3), name
    assert found.flows[0]["loss"] == pytest.approx(apart.flows[0]["loss"], rel=1e-9)
    assert found.flows[0]["retransmissions"] == known.lost


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("most", [9000, 65_000, 200_000])
def test_one_end_counts_what_the_link_carried(tmp_path: Path, form: Form, most: int) -> None:
    # Segments of more than 65,535 bytes have the IP length 0: BIG TCP.
    sent = transfer(1, form).sender
    (apart,) = read((tmp_path / "a.pcap", pcap(form.seen(sent))))
    (found,) = read((tmp_path / "a.pcap", pcap(form.seen(merged(sent, form, most)), snaplen=128)))
    assert found.metrics == pytest.approx(dict(apart.metrics), rel=1e-9)
    assert found.flows[0]["retransmissions"] == apart.flows[0]["retransmissions"]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_without_a_syn_bytes_are_matched_and_packets_unknown(tmp_path: Path, form: Form) -> None:
    known, form = transfer(2, form), replace(form, is_syn_seen=False)
    ends = merged(known.sender, form), merged(known.receiver, form, 20_000)
    found = pair(tmp_path, *(pcap(form.seen(each)) for each in ends))
    apart = pair(tmp_path, *(pcap(form.seen(e)) for e in (known.sender, known.receiver)))
    assert found.flows[0]["loss"] == pytest.approx(apart.flows[0]["loss"], rel=0.03)
    assert found.metrics["throughput_mbps"] == pytest.approx(
        apart.metrics["throughput_mbps"], rel=0.05
    )
    assert "packets_sent" not in found.metrics and "retransmissions" not in found.flows[0]
    assert any("ethtool" in each for each in found.absent)


def test_datagrams_that_were_merged_are_refused(tmp_path: Path) -> None:
    sent = [(1.0 + k / 50, datagram(0, k, b"%8d" % k * 1500)) for k in range(200)]
    came = [
        (1.02 + k / 50 + j / 1e5, datagram(0, 10 * k + j, b"%8d" % j * 150))
        for k in range(200)
        for j in range(10)
    ]
    with pytest.raises(KneepointError, match="ethtool -K DEV tso off gso off gro off"):
        pair(tmp_path, pcap(sent), pcap(came))


# Copies ---------------------------------------------------------------------------------------


def any_interface(seen: Seen) -> bytes:
    """Returns a bridge's capture: each frame enters a port, passes the bridge, and leaves."""
    ways = [cooked_2(1, 0), cooked_2(2, 0), cooked_2(3, 4)]
    shown = [(at_s + k * 2e-4, way(data)) for at_s, data in seen for k, way in enumerate(ways)]
    return pcap(in_time(shown), link=276)


def mirrored(seen: Seen) -> bytes:
    """Returns a capture with each frame twice on one interface."""
    return pcap(in_time(seen + [(at_s + 2e-4, data) for at_s, data in seen]))


@pytest.mark.parametrize("shown", [any_interface, mirrored])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_packets_that_were_captured_twice_count_once(
    tmp_path: Path, form: Form, shown: Callable[[Seen], bytes]
) -> None:
    known = transfer(3, form)
    for segments in (known.sender, merged(known.sender, form)):
        (found,) = read((tmp_path / "a.pcap", shown(form.seen(segments))))
        assert found.metrics["packets_sent"] == known.sent
        assert found.flows[0]["retransmissions"] == known.lost
        assert any("copies" in note for note in found.notes)
    both = pair(tmp_path, shown(form.seen(known.sender)), shown(form.seen(known.receiver)))
    assert both.metrics["packets_delivered"] == known.sent - known.lost


def test_interfaces_may_show_packets_merged_and_apart(tmp_path: Path) -> None:
    form = Form()
    known = transfer(4, form)
    one = [(at_s, cooked_2(1)(data)) for at_s, data in form.seen(known.sender)]
    many = [(at_s, cooked_2(2)(data)) for at_s, data in form.seen(merged(known.sender, form))]
    (found,) = read((tmp_path / "a.pcap", pcap(in_time(one + many), link=276)))
    assert found.metrics["packets_sent"] == known.sent
    blind = replace(form, is_syn_seen=False)
    one = [(at_s, cooked_2(1)(data)) for at_s, data in blind.seen(known.sender)]
    many = [(at_s, cooked_2(2)(data)) for at_s, data in blind.seen(merged(known.sender, form))]
    with pytest.raises(KneepointError, match="several interfaces"):
        read((tmp_path / "a.pcap", pcap(in_time(one + many), link=276)))


def test_what_was_sent_again_is_no_copy(tmp_path: Path) -> None:
    form = Form(is_ip6=True, has_timestamps=False)  # nothing distinguishes the two
    known = transfer(5, form)
    first = [s for s in known.sender if s.payload][:40]
    again = [replace(s, at_s=s.at_s + 0.003) for s in first[::4]]
    seen = form.seen(sorted([*known.sender, *again], key=lambda s: s.at_s))
    (found,) = read((tmp_path / "a.pcap", pcap(seen)))
    assert found.metrics["packets_sent"] == known.sent + len(again)
    assert found.flows[0]["retransmissions"] == known.lost + len(again)


def test_datagrams_that_are_all_alike_are_packets(tmp_path: Path) -> None:
    seen = [(1.0 + k / 1000, datagram(0, 0, bytes(1000), is_ip6=True)) for k in range(500)]
    (found,) = read((tmp_path / "a.pcap", pcap(seen)))
    assert found.metrics["packets_sent"] == 500
    assert found.metrics["throughput_mbps"] == pytest.approx(500 * 1048 * 8 / 0.499 / 1e6)
    twice = [(at_s + k * 0.0101, cooked_2(k)(data)) for at_s, data in seen for k in (1, 2)]
    with pytest.raises(KneepointError, match="tcpdump -i DEV"):
        read((tmp_path / "a.pcap", pcap(in_time(twice), link=276)))


def test_translated_addresses_are_named(tmp_path: Path) -> None:
    form, sent = Form(), transfer(6, Form()).sender
    seen = form.seen(sent)
    outside = [(at_s + 1e-5, data.replace(HOSTS[0], b"\x0a\x00\x00\x09")) for at_s, data in seen]
    with pytest.raises(KneepointError, match=r"10\.0\.0\.9"):
        read((tmp_path / "a.pcap", pcap(in_time(seen + outside))))
    with pytest.raises(KneepointError, match=r"10\.0\.0\.9"):
        read((tmp_path / "a.pcap", pcap(seen)), (tmp_path / "b.pcap", pcap(outside)))


# Containers -----------------------------------------------------------------------------------

FORM = Form()
KNOWN = transfer(7, FORM)
SEEN = FORM.seen(KNOWN.sender)
PLAIN = pcap(SEEN)
NANO = Interface(resolution=9)
BINARY = Interface(resolution=0x80 | 20)
LATE = Interface(offset_s=1_600_000_000)
ANY = Interface(link=276, changed=cooked_2(7), resolution=9)
RAW = Interface(link=101, changed=bare)
OTHER = Interface(order=">", resolution=9, offset_s=-5)


def changed(change: Callable[[bytes], bytes], **form: int) -> bytes:
    return pcap([(at_s, change(data)) for at_s, data in SEEN], **form)  # type: ignore[arg-type]


def without_length(data: bytes) -> bytes:
    return data[:16] + bytes(2) + data[18:]


def exchanged(data: bytes) -> bytes:
    return data[:26] + data[30:34] + data[26:30] + data[36:38] + data[34:36] + data[38:]


def fraction_of(content: bytes, fraction: int) -> bytes:
    """Returns the file with this fraction of a second in the third packet."""
    place = 24
    for _ in range(2):
        place += 16 + struct.unpack_from("<I", content, place + 8)[0]
    return content[: place + 4] + struct.pack("<I", fraction) + content[place + 8 :]


def shifted(from_: int, seconds: float) -> Seen:
    return [(at_s + seconds * (k >= from_), data) for k, (at_s, data) in enumerate(SEEN)]


NOISE = [(at_s, bytes(12) + b"\x08\x06" + bytes(28)) for at_s, _ in SEEN[::3]]
IDENTIFIED = b"".join(
    [section(), NANO.described(), *(NANO.packet(1, at_s, data) for at_s, data in SEEN)]
)
STATISTICS = block("<", 5, bytes(16))
RIGHT = {
    "as it is": PLAIN,
    "big-endian": pcap(SEEN, ">"),
    "in nanoseconds": pcap(SEEN, "<", 10**9),
    "in nanoseconds, big-endian": pcap(SEEN, ">", 10**9),
    "cut at 128 bytes": pcap(SEEN, snaplen=128),
    "cut within TCP's options": pcap(SEEN, snaplen=60),
    "of snap length 0": pcap(SEEN, snaplen=0),
    "packed": gzip.compress(PLAIN),
    "of any interface": changed(cooked, link=113),
    "of any interface, newer": changed(cooked_2(1), link=276),
    "of bare IP": changed(bare, link=101),
    "of bare IP, older": changed(bare, link=12),
    "of bare IPv4": changed(bare, link=228),
    "of a loopback interface": changed(lambda data: b"\2\0\0\0" + bare(data), link=0),
    "of OpenBSD's loopback": changed(lambda data: b"\0\0\0\2" + bare(data), link=108),
    "of a VLAN": changed(tagged(b"\x81\x00\x00\x05")),
    "of a VLAN in a VLAN": changed(tagged(b"\x88\xa8\x00\x05", b"\x81\x00\x00\x06")),
    "of MPLS": changed(labelled),
    "of PPPoE": changed(point_to_point),
    "with check sequences": changed(lambda data: data + bytes(4), link=1 | 0x24000000),
    "padded": changed(lambda data: data + bytes(18)),
    "every packet twice": pcap(in_time(SEEN + SEEN)),
    "every packet three times": pcap(in_time(SEEN * 3)),
    "every packet twice, 0.1 s later": pcap(in_time(SEEN + shifted(0, 0.1))),
    "some packets twice": pcap(in_time(SEEN + SEEN[::50])),
    "lengths of 0": changed(without_length),
    "empty records": pcap(in_time(SEEN + [(at_s, b"") for at_s, _ in SEEN[::3]])),
    "other protocols": pcap(in_time(SEEN + NOISE)),
    "times a little out of order": pcap(
        [(at_s + (k % 2) * 2e-6, data) for k, (at_s, data) in enumerate(SEEN)]
    ),
    "ends exchanged": changed(exchanged),
    "pcapng": pcapng(SEEN, Interface()),
    "pcapng, in nanoseconds": pcapng(SEEN, NANO),
    "pcapng, in 2^-20 s": pcapng(SEEN, BINARY),
    "pcapng, with an offset": pcapng(SEEN, LATE),
    "pcapng, big-endian": pcapng(SEEN, OTHER),
    "pcapng, of two clocks": pcapng(SEEN, Interface(), NANO),
    "pcapng, of four clocks and links": pcapng(SEEN, LATE, ANY, BINARY, RAW),
    "pcapng, an interface unused": pcapng(SEEN, Interface(link=105), NANO, which=lambda _: 1),
    "pcapng, twice on two interfaces": pcapng(in_time(SEEN + SEEN), NANO, RAW),
    "pcapng, two sections": pcapng(SEEN[:300], OTHER) + pcapng(SEEN[300:], ANY, LATE),
    "pcapng, other blocks": pcapng(SEEN[:300], NANO)
    + STATISTICS
    + block("<", 0x80000001, bytes(7))
    + b"".join(NANO.packet(0, at_s, data) for at_s, data in SEEN[300:])
    + STATISTICS,
    "pcapng, of the obsolete kind": pcapng([], NANO)
    + b"".join(NANO.packet(0, at_s, data, kind=2) for at_s, data in SEEN),
}
CUT = pcapng(SEEN, NANO)
REFUSED = {
    "cut off": (PLAIN[:-5], "cut off"),
    "cut after a packet's header": (PLAIN + struct.pack("<4I", 1, 1, 60, 60), "cut"),
    "a record of 1 GB": (PLAIN + struct.pack("<4I", 1, 1, 2**30, 60), "record"),
    "of no packets": (pcap([]), "no TCP or UDP"),
    "of one moment": (pcap(SEEN[:1]), "duration is 0"),
    "of packets that end within IP's header": (changed(lambda data: data[:30]), "no TCP or UDP"),
    "cut in a packet's header": (PLAIN + bytes(9), "cut off"),
    "cut in its header": (PLAIN[:20], "cut off"),
    "of version 2.3": (pcap(SEEN, version=(2, 3)), "2.3"),
    "of version 3.0": (pcap(SEEN, version=(3, 0)), "3.0"),
    "of 802.11": (pcap(SEEN, link=105), "105"),
    "Ethernet that says bare IP": (pcap(SEEN, link=101), "no TCP or UDP"),
    "bare IP that says Ethernet": (changed(bare), "no TCP or UDP"),
    "cut within TCP's header": (pcap(SEEN, snaplen=47), "tcpdump -s"),
    "cut within IP's header": (pcap(SEEN, snaplen=30), "tcpdump -s"),
    "backward": (pcap(SEEN[::-1]), "backward"),
    "a second too large": (fraction_of(PLAIN, 10**6), "damaged"),
    "nanoseconds that say microseconds": (
        b"\xd4\xc3\xb2\xa1" + pcap(SEEN, "<", 10**9)[4:],
        "damaged",
    ),
    "more bytes kept than there were": (PLAIN + struct.pack("<4I", 2**31, 1, 9, 8), "damaged"),
    "two files in one": (PLAIN + PLAIN, ""),
    "a clock that jumps": (pcap(shifted(200, 700 * 86_400)), "clock"),
    "a clock that jumps back": (pcap(shifted(200, -5)), "backward"),
    "pcapng, cut off": (CUT[:-6], "cut off"),
    "pcapng, cut in a block's type": (CUT + b"\6\0", "cut off"),
    "pcapng, cut in its header": (CUT[:10], "cut off"),
    "pcapng, of version 2": (section(major=2) + CUT[28:], "version is 2"),
    "pcapng, of no byte order": (CUT[:8] + bytes(4) + CUT[12:], "byte order"),
    "pcapng, of an unknown interface": (IDENTIFIED, "damaged"),
    "pcapng, of packets without times": (
        CUT + block("<", 3, struct.pack("<I", 60) + bytes(60)),
        "time",
    ),
    "pcapng, two lengths": (CUT[:-4] + b"\4\0\0\0", "lengths"),
    "pcapng, a length of 0": (CUT + struct.pack("<III", 6, 0, 0), "0 bytes"),
    "pcapng, a length that is odd": (CUT + struct.pack("<III", 6, 13, 0), "13 bytes"),
    "pcapng, a packet shorter than its header": (CUT + block("<", 6, bytes(8)), "damaged"),
    "pcapng, a resolution of no byte": (
        section() + block("<", 1, struct.pack("<HHIHHHH", 1, 0, 0, 9, 0, 0, 0)),
        "damaged",
    ),
    "pcapng, of 802.11": (pcapng(SEEN, Interface(link=105), NANO), "105"),
    "pcapng, in whole seconds of the year 53,000,000": (
        CUT.replace(struct.pack("<HHB3x", 9, 1, 9), struct.pack("<HHB3x", 9, 1, 3)),
        "clock",
    ),
    "pcapng, of one clock too early": (
        pcapng(SEEN, NANO, replace(NANO, offset_s=0)).replace(
            struct.pack("<HHq", 14, 8, 0), struct.pack("<HHq", 14, 8, -(10**6))
        ),
        "backward",
    ),
    "pcapng, before 1970": (
        pcapng(SEEN, replace(NANO, offset_s=0)).replace(
            struct.pack("<HHq", 14, 8, 0), struct.pack("<HHq", 14, 8, -(10**10))
        ),
        "clock",
    ),
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    """The true figures; the first test compares the plain capture with the transfer."""
    (found,) = read((tmp_path_factory.mktemp("plain") / "a.pcap", PLAIN))
    sent = [s for s in KNOWN.sender if s.way == 0]
    bits = 8 * sum(s.payload + (52 if not s.is_syn else 56) for s in sent)
    span_s = sent[-1].at_s - sent[0].at_s
    assert found.metrics["throughput_mbps"] == pytest.approx(bits / span_s / 1e6, rel=1e-6)
    assert found.metrics["packets_sent"] == len(sent) == KNOWN.sent
    return found


@pytest.mark.parametrize("content", RIGHT.values(), ids=RIGHT)
def test_a_capture_is_right_in_every_container(
    tmp_path: Path, content: bytes, expected: Measurement
) -> None:
    (found,) = read((tmp_path / "a.pcap", content))
    assert found.metrics == pytest.approx(dict(expected.metrics), rel=1e-5)
    for name in ("rtt_mean_ms", "rtt_p50_ms", "rtt_p95_ms", "retransmissions"):
        assert found.flows[0][name] == pytest.approx(expected.flows[0][name], abs=0.01), name
    assert found.duration_s == pytest.approx(expected.duration_s, abs=1e-4)


@pytest.mark.parametrize(("content", "named"), REFUSED.values(), ids=REFUSED)
def test_a_capture_that_is_wrong_is_one_line(tmp_path: Path, content: bytes, named: str) -> None:
    with pytest.raises(KneepointError) as raised:
        read((tmp_path / "a.pcap", content))
    message = str(raised.value)
    assert "a.pcap" in message and named in message and "\n" not in message


def test_a_capture_that_ends_early_has_the_figures_of_its_part(tmp_path: Path) -> None:
    part = SEEN[: len(SEEN) // 2]
    (found,) = read((tmp_path / "a.pcap", pcap(part)))
    sent = [s for s in KNOWN.sender[: len(part)] if s.way == 0]
    assert found.metrics["packets_sent"] == len(sent)


def test_fragments_belong_to_the_flow_of_the_first(tmp_path: Path) -> None:
    seen = []
    for k in range(100):
        whole = datagram(0, k + 1, bytes([k]) * 3992)
        for place in (0, 1480, 2960):
            body = whole[34 + place : 34 + place + 1480]
            where = place // 8 | (0x2000 if place < 2960 else 0)
            head = whole[14:16] + struct.pack(">HHH", 20 + len(body), k + 1, where) + whole[22:34]
            seen.append((1 + k / 100 + place / 1e9, whole[:14] + head + body))
    (found,) = read((tmp_path / "a.pcap", pcap(seen)))
    assert found.metrics["packets_sent"] == 300
    bits = 8 * 100 * (4000 + 3 * 20)
    assert found.metrics["throughput_mbps"] == pytest.approx(bits / 0.99 / 1e6, rel=1e-4)


# Both ends ------------------------------------------------------------------------------------

CAME = FORM.seen(KNOWN.receiver)
PAIRS = {
    "exchanged": (pcap(CAME), PLAIN),
    "of other links": (
        changed(cooked_2(1), link=276),
        pcap([(t, bare(d)) for t, d in CAME], link=101),
    ),
    "of other containers": (pcapng(SEEN, LATE), pcap(CAME, ">", 10**9)),
    "cut at other lengths": (pcap(SEEN, snaplen=66), pcap(CAME, snaplen=96)),
    "one begins long before": (
        pcap([(SEEN[0][0] - 300, NOISE_FLOW := datagram(1, 9, b"ping")), *SEEN]),
        pcap(CAME),
    ),
    "one twice": (mirrored(SEEN), pcap(CAME)),
    "both of any interface": (any_interface(SEEN), any_interface(CAME)),
}
BAD_PAIRS = {
    "the same": (PLAIN, PLAIN, "same"),
    "a clock ahead": (PLAIN, pcap([(t + 1, d) for t, d in CAME]), r"receiver\.pcap.*clock"),
    "a clock behind": (PLAIN, pcap([(t - 0.1, d) for t, d in CAME]), "clock"),
    "a clock an hour behind": (PLAIN, pcap([(t - 3600, d) for t, d in CAME]), "clock"),
    "a sender's capture that lacks a tenth": (
        pcap([each for k, each in enumerate(SEEN) if k < 3 or k % 10]),
        pcap(CAME),
        "dropped",
    ),
    "a receiver's capture that lacks a tenth": (
        PLAIN,
        pcap([each for k, each in enumerate(CAME) if k < 3 or k % 10]),
        "dropped",
    ),
}


def test_one_end_tells_round_trips_and_both_ends_delays(tmp_path: Path) -> None:
    (alone,) = read((tmp_path / "a.pcap", PLAIN))
    assert (
        21.5 <= float(str(alone.flows[0]["rtt_p50_ms"])) <= 22.5
    )  # 1.5 ms more than the one-way delay
    assert any(each.startswith("capacity, queue") for each in alone.absent)
    both = pair(tmp_path, PLAIN, pcap(CAME))
    assert both.path == tmp_path / "sender.pcap" and both.format != alone.format
    assert over_time.DELAY in set(both.series["quantity"])


@pytest.mark.parametrize("kind", ["TCP", "UDP"])
def test_what_left_while_the_receiver_was_not_captured_is_not_lost(
    tmp_path: Path, kind: str
) -> None:
    sent, came = SEEN, CAME
    if kind == "UDP":
        sent, came = exchange(lambda at_s: at_s if round(at_s * 200) % 10 else None)
    half = came[len(came) // 4 : -len(came) // 4]
    both = pair(tmp_path, pcap(sent), pcap(half))
    assert 0.09 < float(str(both.flows[0]["loss"])) < 0.2  # TCP loses a part of a burst
    assert both.metrics["packets_sent"] < 0.6 * len(sent)
    assert any("do not count" in each for each in both.notes)


def test_segments_that_are_sent_again_measure_no_rtt(tmp_path: Path) -> None:
    times_s = ((1.0, 0), (1.1, 1000), (1.4, 1000))
    data = [Segment(at_s, 0, begins, 1000, 7, k) for k, (at_s, begins) in enumerate(times_s)]
    answers = [Segment(1.03, 1, 7, 0, 1000, 1), Segment(1.5, 1, 7, 0, 2000, 2)]
    (found,) = read((tmp_path / "a.pcap", pcap(in_time(FORM.seen([*data, *answers])))))
    assert found.flows[0]["retransmissions"] == 1
    assert found.flows[0]["rtt_mean_ms"] == pytest.approx(30, abs=0.01)


def test_captures_of_different_runs_stay_apart(tmp_path: Path) -> None:
    paths = [
        (tmp_path / f"cubic-{k}.pcap", pcap(FORM.seen(transfer(k, FORM).sender))) for k in (1, 2)
    ]
    assert len(read(*paths)) == 2


@pytest.mark.parametrize("ends", PAIRS.values(), ids=PAIRS)
def test_both_ends_are_right(tmp_path: Path, ends: tuple[bytes, bytes]) -> None:
    found = pair(tmp_path, *ends)
    flow = next(each for each in found.flows if "5000 > " in str(each["name"]))
    assert found.metrics["packets_delivered"] == KNOWN.sent - KNOWN.lost
    assert flow["loss"] == pytest.approx(KNOWN.lost / KNOWN.sent, rel=0.05)
    p95_ms = 1000 * np.percentile(KNOWN.delays_s, 95, method="nearest")
    assert flow["delay_p95_ms"] == pytest.approx(p95_ms, abs=0.01)


@pytest.mark.parametrize(("sent", "came", "named"), BAD_PAIRS.values(), ids=BAD_PAIRS)
def test_ends_that_do_not_fit_are_one_line(
    tmp_path: Path, sent: bytes, came: bytes, named: str
) -> None:
    with pytest.raises(KneepointError, match=named) as raised:
        pair(tmp_path, sent, came)
    assert "\n" not in str(raised.value)
