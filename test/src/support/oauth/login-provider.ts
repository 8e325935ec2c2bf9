import type { OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';

/** The provider of a client with the official SDK for a login by OAuth; it keeps everything in memory. */
export interface LoginProvider {
  readonly redirectUrl: string;
  readonly clientMetadataUrl?: string;
  readonly clientMetadata: OAuthClientMetadata;
  state(): string;
  clientInformation(): OAuthClientInformationMixed | undefined;
  saveClientInformation(information: OAuthClientInformationMixed): void;
  tokens(): OAuthTokens | undefined;
  saveTokens(tokens: OAuthTokens): void;
  redirectToAuthorization(url: URL): void;
  saveCodeVerifier(verifier: string): void;
  codeVerifier(): string;
  discoveryState(): OAuthDiscoveryState | undefined;
  saveDiscoveryState(state: OAuthDiscoveryState): void;
  /** The page that the person was sent to last. */
  opened(): URL;
}

/** Makes a provider that has never logged in. With `clientMetadataUrl` that is its client id, where the service takes it. */
export function newLoginProvider(redirectUrl: string, clientMetadataUrl?: string): LoginProvider {
  let information: OAuthClientInformationMixed | undefined;
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let discovered: OAuthDiscoveryState | undefined;
  let opened: URL | undefined;
  return {
    redirectUrl,
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    clientMetadata: { redirect_uris: [redirectUrl], client_name: 'A test client' },
    state: () => 'a-state',
    clientInformation: () => information,
    saveClientInformation: (given) => void (information = given),
    tokens: () => tokens,
    saveTokens: (given) => void (tokens = given),
    redirectToAuthorization: (url) => void (opened = url),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
    discoveryState: () => discovered,
    saveDiscoveryState: (given) => void (discovered = given),
    opened() {
      if (!opened) throw new Error('The client has not asked for a login.');
      return opened;
    },
  };
}
