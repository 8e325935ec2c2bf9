import type { ApiError } from '../../errors/api-error.js';
import { renderPage } from './page.js';

/** An error as a person reads it: its reason, the next step, and the id for support. */
export function errorPage(error: ApiError, requestId: string): string {
  const head = { title: 'Agent Rental Marketplace', description: error.message };
  return renderPage(
    head,
    <>
      <h1>{error.status >= 500 ? 'This did not work' : 'There is nothing to show'}</h1>
      <p class="words">{error.message}</p>
      <p>
        <a href="/">Browse the agents</a> instead.
      </p>
      <p class="soft">
        Error <code>{error.code}</code>, request <code>{requestId}</code>.
      </p>
    </>,
  );
}
