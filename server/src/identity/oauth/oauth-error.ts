/** Error codes of OAuth: RFC 6749 (sections 4.1.2.1 and 5.2), RFC 7591 (3.2.2), RFC 8707 (2) and RFC 9449 (5). */
type OAuthErrorCode =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_dpop_proof'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'unsupported_grant_type'
  | 'unsupported_response_type';

const STATUS: Partial<Record<OAuthErrorCode, number>> = {
  invalid_client: 401,
  server_error: 500,
  temporarily_unavailable: 503,
};

/** A refusal in the words of OAuth. The description is shown to people: it names the remedy, and nothing internal. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly status: number;

  constructor(code: OAuthErrorCode, description: string) {
    super(description);
    this.code = code;
    this.status = STATUS[code] ?? 400;
  }

  /** RFC 6749, section 5.2: a description has printable ASCII alone, without quotation mark and backslash. */
  body(): { error: string; error_description: string } {
    const description = this.message.replaceAll(/["\\]/g, "'").replaceAll(/[^\x20-\x7e]/g, '?');
    return { error: this.code, error_description: description };
  }
}

/** A refused authorization request whose client and redirect URI are known to belong together. */
export class AuthorizationError extends OAuthError {
  /** Brings the refusal to the client. Only a person's click follows it: clients are strangers, and this is no open redirect. */
  readonly redirectTo: string;
  /** Where that leads, for the person. */
  readonly redirectHost: string;

  constructor(error: OAuthError, back: { redirectTo: string; redirectHost: string }) {
    super(error.code, error.message);
    this.redirectTo = back.redirectTo;
    this.redirectHost = back.redirectHost;
  }
}
