/** The longest redirect URI. */
const MOST_CHARACTERS = 500;
const LOOPBACK_HOSTS = ['127.0.0.1', '[::1]', 'localhost'];

/**
 * Schemes of editors whose extensions log in by them, as `cursor://anysphere.cursor-mcp/oauth/callback` and
 * `vscode://saoudrizwan.claude-dev/mcp-auth/callback/x`. RFC 8252, section 7.1, wants private schemes to be reversed domain names.
 * These are not. Any other scheme without a dot is refused, because browsers and systems give such names other meanings.
 */
const EDITORS = ['cursor:', 'vscode:', 'vscode-insiders:', 'windsurf:', 'kiro:'];
/** Publisher, extension, and a path that names its callback. Other addresses start an editor's actions: clone, open, install. */
const EDITOR_CALLBACK = /^[a-z-]+:\/\/(?!vscode\.)[\w-]+\.[\w-]+(?:\/[\w-]+){0,2}\/callback(?:\/[\w-]+)?$/i;
/** A reversed domain name, and a path that names the login (RFC 8252, section 7.1). */
const APP_CALLBACK =
  /^[a-z]{2,}(?:\.[a-z\d-]+)+:\/{1,3}(?:[\w.-]+\/)*[\w-]*(?:callback|auth|redirect)[\w-]*(?:\/[\w.-]+)*$/i;

/**
 * The fault of a redirect URI. Only https, http on loopback (RFC 8252, section 7.3) and private schemes are taken. They
 * must be in the normal form of URLs, so that no two readers see different hosts.
 */
export function redirectUriProblem(text: string): string | undefined {
  if (text.length > MOST_CHARACTERS) return `is longer than ${MOST_CHARACTERS} characters`;
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return 'is not a URL';
  const url = new URL(text);
  if (text.includes('#')) return 'has a fragment';
  if (url.username !== '' || url.password !== '') return 'carries credentials';
  if (url.href !== text && url.href !== `${text}/`) return `has another normal form: ${url.href}`;
  switch (url.protocol) {
    case 'https:':
      return undefined;
    case 'http:':
      return isLoopback(url)
        ? undefined
        : 'is http to another machine; use https, or http to 127.0.0.1, [::1] or localhost';
    default:
      if (EDITORS.includes(url.protocol)) {
        if (EDITOR_CALLBACK.test(text)) return undefined;
        return `is no callback of an extension, as ${url.protocol}//publisher.extension/callback`;
      }
      if (!url.protocol.includes('.')) {
        return `has the scheme ${url.protocol}, which is no reversed domain name`;
      }
      return APP_CALLBACK.test(text)
        ? undefined
        : `is no callback of an app, as ${url.protocol}/oauth/callback`;
  }
}

/** Whether an authorization request may name this redirect URI: exactly a registered one, or that one with another port on loopback. */
export function isRegistered(registered: readonly string[], asked: string): boolean {
  return registered.some((one) => one === asked || isSameOnLoopback(one, asked));
}

/** Where a redirect URI leads, as a person is told: a host, or the scheme of an app on the machine. */
export function redirectHostOf(redirectUri: string): string {
  const url = new URL(redirectUri);
  return /^https?:$/.test(url.protocol) ? url.host : url.protocol.slice(0, -1);
}

/** A redirect URI with the parameters of a response beside its own. */
export function withParameters(redirectUri: string, parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const query = new URLSearchParams(given).toString();
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`;
}

function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK_HOSTS.includes(hostname);
}

function isSameOnLoopback(registered: string, asked: string): boolean {
  const [one, other] = [new URL(registered), new URL(asked)];
  if (one.protocol !== 'http:' || !isLoopback(one)) return false;
  one.port = '';
  other.port = '';
  return one.href === other.href;
}
