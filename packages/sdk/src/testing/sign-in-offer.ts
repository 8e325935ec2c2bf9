/** A service's answer to a wallet that wants to log in. A test may change its `sign_in`. */
export function offer(
  { domain, wallet }: { domain: string; wallet: string },
  signIn: Record<string, unknown> = {},
  nowMs: number = Date.now(),
) {
  const issuedAt = Math.floor(nowMs / 1000);
  const nonce = 'ab12'.repeat(16);
  return {
    challenge: `agent-rental:auth:${issuedAt}:${nonce}`,
    expires_at: issuedAt + 60,
    sign_in: {
      domain,
      address: wallet,
      statement: 'Sign in to the agent rental marketplace.',
      uri: `https://${domain}`,
      version: '1',
      chainId: 'solana:devnet',
      nonce,
      issuedAt: new Date(issuedAt * 1000).toISOString(),
      expirationTime: new Date((issuedAt + 60) * 1000).toISOString(),
      ...signIn,
    },
  };
}
