import type { KeptLogin, LoginStore } from '@agent-rental/sdk';
import * as z from 'zod';
import { GUEST_WALLET } from './development-wallet.js';

/** Where it lies in the browser's storage. All tabs share the local one, and no other site reads it. A guest's lies in the tab's. */
const ITEM = 'agent-rental-login';
/** A page does not start with a login that ends sooner. */
const LEAST_LEFT_SECONDS = 60;

const keptLogin = z.object({
  wallet: z.string(),
  token: z.string(),
  expires_at: z.number(),
  /** The wallet application that it was made with. */
  walletName: z.string(),
});

/** The login that this browser has; undefined where there is none, or none that lasts. */
export function readKeptLogin(): (KeptLogin & { walletName: string }) | undefined {
  try {
    const kept = sessionStorage.getItem(ITEM) ?? localStorage.getItem(ITEM);
    const login = keptLogin.parse(JSON.parse(kept ?? 'null'));
    return login.expires_at - LEAST_LEFT_SECONDS > Date.now() / 1000 ? login : undefined;
  } catch {
    // Another form, or a browser that keeps nothing.
    return undefined;
  }
}

/** Ends the login of this browser, in all its tabs. */
export function forgetKeptLogin(): void {
  try {
    sessionStorage.removeItem(ITEM);
    localStorage.removeItem(ITEM);
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}

/** Where a page leaves word of a log-out for its next load. */
const LOGGED_OUT_ITEM = 'agent-rental-logged-out';

/** Notes a log-out, which the page tells after it is loaded again. */
export function noteLogOut(): void {
  try {
    sessionStorage.setItem(LOGGED_OUT_ITEM, 'yes');
  } catch {
    // The page then shows that there is no login.
  }
}

/** Whether this tab has just logged out; true once. */
export function takeLogOut(): boolean {
  try {
    const isNoted = sessionStorage.getItem(LOGGED_OUT_ITEM) !== null;
    sessionStorage.removeItem(LOGGED_OUT_ITEM);
    return isNoted;
  } catch {
    return false;
  }
}

/** Keeps the login of a wallet application for the pages of all tabs: the token of an hour, never an API key. */
export function keptLoginStore(walletName: string): LoginStore {
  return {
    read: readKeptLogin,
    write: (login) => {
      if (!login) return forgetKeptLogin();
      try {
        const storage = walletName === GUEST_WALLET ? sessionStorage : localStorage;
        storage.setItem(ITEM, JSON.stringify({ ...login, walletName }));
      } catch {
        // The next page asks for another signature.
      }
    },
  };
}
