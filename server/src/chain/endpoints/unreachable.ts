/** Says that no endpoint answers. @param hosts without the paths of their addresses, which may hold a key */
export function unreachable(hosts: readonly string[]): string {
  return (
    `No endpoint in SOLANA_RPC_URLS answers as a Solana RPC does (${hosts.join(', ')}). ` +
    'Check the addresses, the keys in them, and the network.'
  );
}
