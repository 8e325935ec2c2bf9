# Gives the keys of compose.localnet.yaml test money and initialises the program, unless that was done.
set -eu
if operator protocol; then exit 0; fi
for given in upgrade-authority:10 authority:100 admin:1 treasury:1 creator:10 renter:10; do
  agent-rental wallet fund "/run/secrets/${given%:*}" --sol "${given#*:}" --airdrop
done
address() { agent-rental wallet balance "/run/secrets/$1" --json | node -p 'JSON.parse(fs.readFileSync(0)).address'; }
operator initialize --admin "$(address admin)" --authority "$(address authority)" --treasury "$(address treasury)" \
  --keypair /run/secrets/upgrade-authority
