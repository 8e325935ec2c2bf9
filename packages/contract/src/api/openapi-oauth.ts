import type { Schema } from './openapi-schemas.js';
import { OAUTH_PATHS } from './service-endpoints.js';

const TEXT = { type: 'string' };
const TEXT_OR_NULL = { type: ['string', 'null'] };
const FORM = 'application/x-www-form-urlencoded';
const ERROR: Schema = {
  type: 'object',
  required: ['error', 'error_description'],
  properties: { error: TEXT, error_description: TEXT },
};

/** The endpoints that clients of OAuth call, by path. They answer in OAuth's own form, errors too. */
export function describeOAuth(headers: Schema): Record<string, Schema> {
  const endpoint = (
    operationId: string,
    summary: string,
    { type, status, request, response }: { type: string; status: number; request: Schema; response: Schema },
  ): Schema => {
    const json = (description: string, schema: Schema) => ({
      description,
      headers,
      content: { 'application/json': { schema } },
    });
    const refused = json('Refused, in the form of RFC 6749, section 5.2', ERROR);
    return {
      post: {
        operationId,
        summary,
        security: [],
        requestBody: { required: true, content: { [type]: { schema: request } } },
        responses: {
          [status]: json('Success', response),
          400: refused,
          401: refused,
          429: refused,
          500: refused,
          503: refused,
        },
      },
    };
  };
  const texts = (required: string[], ...optional: string[]): Schema => ({
    type: 'object',
    required,
    properties: Object.fromEntries([...required, ...optional].map((name) => [name, TEXT])),
  });
  const uris = { type: 'array', items: { ...TEXT, format: 'uri' }, minItems: 1 };
  return {
    [OAUTH_PATHS.register]: endpoint('registerClient', 'Register a client of OAuth (RFC 7591)', {
      type: 'application/json',
      status: 201,
      request: {
        type: 'object',
        required: ['redirect_uris'],
        properties: { redirect_uris: uris, client_name: TEXT_OR_NULL, client_uri: TEXT_OR_NULL },
      },
      response: {
        type: 'object',
        required: ['client_id', 'redirect_uris'],
        properties: { client_id: TEXT, redirect_uris: uris, client_name: TEXT },
      },
    }),
    [OAUTH_PATHS.token]: endpoint(
      'exchangeToken',
      'Exchange a code, a refresh token, or the assertion of a program with a wallet, for tokens (OAuth 2.1)',
      {
        type: FORM,
        status: 200,
        request: texts(
          ['grant_type'],
          'client_id',
          'code',
          'redirect_uri',
          'code_verifier',
          'refresh_token',
          'client_assertion_type',
          'client_assertion',
          'resource',
          'scope',
        ),
        response: {
          type: 'object',
          required: ['access_token', 'token_type', 'expires_in', 'scope'],
          properties: {
            access_token: TEXT,
            token_type: TEXT,
            expires_in: { type: 'integer' },
            refresh_token: TEXT,
            scope: TEXT,
          },
        },
      },
    ),
    [OAUTH_PATHS.revoke]: endpoint('revokeToken', 'Revoke a token of a connected app (RFC 7009)', {
      type: FORM,
      status: 200,
      request: texts(['token', 'client_id'], 'token_type_hint'),
      response: { type: 'object' },
    }),
  };
}
