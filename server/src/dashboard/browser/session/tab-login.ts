import type { KeptLogin, LoginStore } from '@agent-rental/sdk';
import * as z from 'zod';

/** Where it lies in the tab's session storage, which ends with the tab and which no other site reads. */
const ITEM = 'agent-rental-login';
/** A page does not start with a login that ends sooner. */
const LEAST_LEFT_SECONDS = 60;

const tabLogin = z.object({
  wallet: z.string(),
  token: z.string(),
  expires_at: z.number(),
  /** The wallet application that it was made with. */
  walletName: z.string(),
});

/** The login that this tab has; undefined where there is none, or none that lasts. */
export function readTabLogin(): (KeptLogin & { walletName: string }) | undefined {
  try {
    const login = tabLogin.parse(JSON.parse(sessionStorage.getItem(ITEM) ?? 'null'));
    return login.expires_at - LEAST_LEFT_SECONDS > Date.now() / 1000 ? login : undefined;
  } catch {
    // Another form, or a browser that keeps nothing.
    return undefined;
  }
}

/** Ends the login of this tab. */
export function forgetTabLogin(): void {
  try {
    sessionStorage.removeItem(ITEM);
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}

/** Keeps the logins of a wallet application for the pages of this tab: the token of an hour, never an API key. */
export function tabLoginStore(walletName: string): LoginStore {
  return {
    read: readTabLogin,
    write: (login) => {
      if (!login) return forgetTabLogin();
      try {
        sessionStorage.setItem(ITEM, JSON.stringify({ ...login, walletName }));
      } catch {
        // The next page asks for another signature.
      }
    },
  };
}
