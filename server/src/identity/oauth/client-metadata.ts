import * as z from 'zod';
import { cleanLine } from '../../listings/index.js';
import { OAuthError } from './oauth-error.js';
import { redirectUriProblem } from './redirect-uris.js';

const NAME_CHARACTERS = 60;
/** Characters that read as a double quotation mark: the page puts a name between two. */
const QUOTATION_MARK = /["\u00ab\u00bb\u201c-\u201f\u2033\u2036\u301d-\u301f\uff02]/gu;
const MOST_REDIRECT_URIS = 20;

/** The used members of a client's metadata (RFC 7591, section 2). All of them are a stranger's claims. */
export interface ClientMetadata {
  /** One line, without a double quotation mark. */
  name: string;
  /** Host of its home page. */
  site: string | undefined;
  redirectUris: readonly string[];
}

/** As registered clients and metadata documents write it. Other members are ignored, as RFC 7591 wants. */
const metadata = z.object({
  redirect_uris: z.array(z.string()).min(1).max(MOST_REDIRECT_URIS),
  client_name: z.string().nullish(),
  client_uri: z.string().nullish(),
  grant_types: z.array(z.string()).nullish(),
  response_types: z.array(z.string()).nullish(),
  token_endpoint_auth_method: z.string().nullish(),
});
type RawMetadata = z.output<typeof metadata>;

/**
 * Reads a client's metadata.
 *
 * @throws OAuthError `invalid_redirect_uri` or `invalid_client_metadata`
 */
export function readClientMetadata(value: unknown): { client: ClientMetadata; raw: RawMetadata } {
  const parsed = metadata.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new OAuthError(
      issue?.path[0] === 'redirect_uris' ? 'invalid_redirect_uri' : 'invalid_client_metadata',
      `${issue?.path.join('.') || 'The metadata'}: ${issue?.message}.`,
    );
  }
  const raw = parsed.data;
  for (const uri of raw.redirect_uris) {
    const problem = redirectUriProblem(uri);
    if (problem !== undefined) throw new OAuthError('invalid_redirect_uri', `A redirect URI ${problem}.`);
  }
  requireOffered('grant_types', raw.grant_types, 'authorization_code');
  requireOffered('response_types', raw.response_types, 'code');
  return {
    raw,
    client: {
      name: nameOf(raw.client_name ?? ''),
      site: siteOf(raw.client_uri ?? ''),
      redirectUris: raw.redirect_uris,
    },
  };
}

function requireOffered(field: string, asked: readonly string[] | null | undefined, offered: string): void {
  if (asked == null || asked.includes(offered)) return;
  throw new OAuthError(
    'invalid_client_metadata',
    `${field}: the service offers ${offered}, which is not in it.`,
  );
}

/** Without characters that hide or reorder text, and cut. */
function nameOf(text: string): string {
  const line = cleanLine(text.slice(0, NAME_CHARACTERS * 4)).replaceAll(QUOTATION_MARK, "'");
  const name = Array.from(line).slice(0, NAME_CHARACTERS).join('').trim();
  return name === '' ? 'an app without a name' : name;
}

function siteOf(text: string): string | undefined {
  if (text.length > 500 || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === 'https:' ? url.host : undefined;
}
