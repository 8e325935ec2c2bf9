import type { AuthorizationError } from '../../../identity/index.js';
import { renderPage } from '../page.js';

/**
 * A refused request of an app, with the refusal for the app. A link carries it and not a redirect. Clients are strangers,
 * and could misuse an address of this service that redirects by itself.
 */
export function refusedPage(
  error: Pick<AuthorizationError, 'message' | 'code' | 'redirectTo' | 'redirectHost'>,
): string {
  const head = { title: 'The app cannot be connected', description: error.message };
  return renderPage(
    head,
    <>
      <h1>The app cannot be connected</h1>
      <p class="words">{error.message}</p>
      <p>
        <a href={error.redirectTo} rel="noreferrer">
          Tell the app, at {error.redirectHost}
        </a>
      </p>
      <p class="soft">
        Error <code>{error.code}</code>.
      </p>
    </>,
  );
}
