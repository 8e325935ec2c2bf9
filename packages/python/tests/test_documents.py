"""The programs of the documents, unchanged but for this market's addresses."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from market import Market
from solders.keypair import Keypair

FOLDER = Path(__file__).parent.parent


def programs_of(name: str) -> list[str]:
    text = (FOLDER / "documents" / name).read_text("utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def played(market: Market, program: str, folder: Path) -> str:
    here = program.replace("http://127.0.0.1:8787", market.base_url).replace("http://127.0.0.1:8899", market.rpc_url)
    ended = subprocess.run([sys.executable, "-c", here], cwd=folder, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_readme_goes_from_an_airdrop_to_an_answer(market: Market, tmp_path: Path) -> None:
    [program] = programs_of("README.md")
    assert re.match(r"completed \d+ \S", played(market, program, tmp_path))


def test_the_page_hires_streams_and_names_the_next_step(market: Market, tmp_path: Path) -> None:
    hire, agent = programs_of("python.md")
    keypair = Keypair()
    (tmp_path / "wallet.json").write_text(json.dumps(list(bytes(keypair))))
    market.fund(str(keypair.pubkey()))
    said = played(market, hire, tmp_path).splitlines()
    assert re.match(r"completed \d{7,}$", said[0])
    assert re.match(r"\d+$", said[-2])
    assert said[-1] == "not_found Check the id. Results of runs are kept for 24 hours."
    assert played(market, f"{agent}\nprint(callable(app))", tmp_path) == "True\n"


def test_a_keypair_file_with_other_content_is_refused_without_showing_it(tmp_path: Path) -> None:
    from agent_rental import Wallet

    (tmp_path / "wallet.json").write_text('["secret"]')
    with pytest.raises(ValueError) as refused:
        Wallet.from_file(tmp_path / "wallet.json")
    assert "secret" not in str(refused.value)
