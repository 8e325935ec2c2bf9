import { EVENT_NAMES, EVENTS } from '@agent-rental/contract';
import { elementId } from '../../element-ids.js';
import { EVENT_KINDS, eventKind } from '../../words.js';

/** The e-mail address that hears of events. */
export function EmailSection() {
  return (
    <>
      <h2 id="email">By e-mail</h2>
      <p id={elementId('no-email')} hidden>
        This marketplace sends no e-mail: its operator has set no mail server.
      </p>
      <div id={elementId('email-in')} hidden>
        <p>
          The first event comes within a minute, and later ones together, at most every 15 minutes. Creators
          never see your address.
        </p>
        <p id={elementId('email-state')} />
        <form class="tall" id={elementId('email-form')}>
          <label class="wide">
            E-mail address
            <input
              id={elementId('email-address')}
              type="email"
              maxLength={254}
              autocomplete="email"
              required
            />
          </label>
          <EventChoice />
          <button type="submit">Save</button>
          <button type="button" id={elementId('email-remove')} class="plain danger" hidden>
            Remove the address
          </button>
        </form>
      </div>
    </>
  );
}

/** The webhooks of the wallet. */
export function WebhookSection() {
  return (
    <>
      <h2 id="webhooks">By webhook</h2>
      <p>
        Your program gets each event as a signed request, and checks it with the webhook's secret. Choose no
        event to get all of them.
      </p>
      <form class="tall" id={elementId('webhook-form')}>
        <label class="wide">
          Address
          <input
            id={elementId('webhook-url')}
            type="url"
            maxLength={2000}
            autocomplete="off"
            placeholder="https://..."
            required
          />
        </label>
        <EventChoice />
        <button type="submit">Add</button>
      </form>
      <div id={elementId('secret-part')} hidden>
        <h3>The secret of the webhook</h3>
        <p>Copy it now: it is not shown again.</p>
        <pre id={elementId('webhook-secret')} tabIndex={0} role="group" aria-label="The secret" />
        <p>
          <button type="button" id={elementId('copy-secret')}>
            Copy
          </button>
        </p>
      </div>
      <p id={elementId('no-webhooks')} class="empty" hidden>
        You have no webhook.
      </p>
      <ul class="cards" id={elementId('webhook-list')} />
    </>
  );
}

function EventChoice() {
  return (
    <details class="wide">
      <summary>Which events</summary>
      <div>
        {EVENT_KINDS.map((kind) => (
          <fieldset key={kind}>
            <legend>{kind}</legend>
            {EVENT_NAMES.filter((name) => name !== 'webhook.test' && eventKind(name) === kind).map((name) => (
              <label key={name} class="check">
                <input type="checkbox" name="event" value={name} />
                {EVENTS[name].summary.replace(/\.$/, '')}
              </label>
            ))}
          </fieldset>
        ))}
      </div>
    </details>
  );
}
