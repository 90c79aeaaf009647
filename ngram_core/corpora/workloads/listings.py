"""Lists that a program might print: the form repeats, the values do not."""

from __future__ import annotations

import json

from .base import Dice, Task

_FIRST = (
    *("Ada", "Bruno", "Clara", "Dario", "Elif", "Farid", "Greta", "Hanno", "Ines", "Jonas"),
    *("Kira", "Lasse", "Mina", "Nuri", "Olga", "Pavel", "Rosa", "Samir", "Tilda", "Ugo"),
)
_LAST = (
    *("Abend", "Brook", "Castel", "Dorn", "Elster", "Falk", "Grove", "Hale", "Iversen", "Jarvis"),
    *("Keller", "Lund", "Marsh", "Novak", "Ortega", "Pryce", "Quinn", "Rossi", "Stone", "Thorne"),
)
_TOWNS = (
    *("Orrin", "Varn", "Merrow", "Lower Wend", "Sand Ferry", "Tallow", "Eastmere", "Highgate"),
    *("Brightwell", "Coldwater", "Dunmore", "Farrow", "Kestrel Bay", "Longbridge", "Norhaven"),
)
_GOODS = (
    *("kettle", "ladder", "lamp", "blanket", "compass", "notebook", "tent", "saw", "basket"),
    *("bucket", "mirror", "clock", "hammer", "teapot", "rope", "scarf", "candle", "bench"),
)
_JOBS = (
    *("keeper of the lighthouse", "baker of dark bread", "driver of the night train"),
    *("teacher at the village school", "clerk of the salt office", "mender of paper kites"),
    *("clockmaker to the council", "player of the game of stones", "builder of stone bridges"),
)
_COLOURS = ("red", "green", "blue", "white", "black", "grey", "brown", "yellow")
_STATES = ("new", "paid", "packed", "sent", "returned")

_N_ROWS = 40


def json_lines(dice: Dice) -> Task:
    """Orders, one JSON object a line."""
    rows = [
        json.dumps(
            {
                "order_id": dice.number(1000, 9999),
                "customer_name": f"{dice.one_of(_FIRST)} {dice.one_of(_LAST)}",
                "shipping_address": {"town": dice.one_of(_TOWNS), "country": "Wendland"},
                "item_description": dice.one_of(_GOODS),
                "quantity": dice.number(1, 9),
                "is_paid": dice.chance(0.5),
                "order_state": dice.one_of(_STATES),
            }
        )
        for _ in range(_N_ROWS)
    ]
    return Task(f"Write {_N_ROWS} orders as JSON, one a line.\n\n", _lines(rows))


def html_list(dice: Dice) -> Task:
    """Goods as items of an HTML list."""
    rows = []
    for _ in range(_N_ROWS):
        name = f"{dice.one_of(_COLOURS)} {dice.one_of(_GOODS)}"
        rows.append(
            f'  <li class="item"><a href="/shop/{name.replace(" ", "-")}">{name.capitalize()}</a>'
            f' <span class="price">{dice.number(1, 99)}.00 EUR</span></li>'
        )
    return Task(
        f"Write an HTML list of {_N_ROWS} goods.\n\n",
        _lines(['<ul class="goods">', *rows, "</ul>"]),
    )


def log(dice: Dice) -> Task:
    """What a server writes while it serves."""
    rows = []
    seconds = dice.number(0, 80_000)
    for _ in range(2 * _N_ROWS):
        seconds += dice.number(0, 9)
        clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        rows.append(f"2031-04-17T{clock}Z {_event(dice)}")
    return Task("This is the log of the server.\n\n", _lines(rows))


def _event(dice: Dice) -> str:
    address = f"10.0.{dice.number(1, 99)}.{dice.number(1, 99)}"
    kind = dice.number(0, 9)
    if kind < 6:
        path = f"/api/v2/{dice.one_of(('goods', 'orders', 'towns', 'people'))}"
        verb = dice.one_of(("GET", "GET", "GET", "POST", "DELETE"))
        status = dice.one_of((200, 200, 200, 204, 404))
        place = f"{path}/{dice.number(1, 99_999)}"
        return f"INFO {address} {verb} {place} {status} {dice.number(1, 999)}ms"
    if kind < 8:
        name = dice.one_of(_FIRST).lower()
        return f"INFO session {dice.number(1000, 9999)} opened for user {name} from {address}"
    if kind < 9:
        return f"WARN slow query on table {dice.one_of(_STATES)}_orders: {dice.number(1, 9)} s"
    return (
        f"ERROR worker {dice.number(1, 16)} lost {address}: connection reset by peer, trying again"
    )


def table(dice: Dice) -> Task:
    """JSON in the prompt, the same values as a Markdown table in the answer."""
    people = [
        {
            "name": f"{dice.one_of(_FIRST)} {dice.one_of(_LAST)}",
            "town": dice.one_of(_TOWNS),
            "job": dice.one_of(_JOBS),
            "since": dice.number(1990, 2029),
        }
        for _ in range(_N_ROWS)
    ]
    rows = [f"| {' | '.join(str(value) for value in person.values())} |" for person in people]
    return Task(
        f"{json.dumps(people, indent=2)}\n\nPrint this as a Markdown table.\n\n",
        _lines(["| Name | Town | Job | Since |", "| --- | --- | --- | --- |", *rows]),
    )


def _lines(rows: list[str]) -> str:
    return "".join(f"{row}\n" for row in rows)
