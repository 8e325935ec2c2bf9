import { TermsFields } from './terms-fields.js';
import { elementId } from '../../element-ids.js';

/** Publishes a registered agent: the result of its review, the missing parts, and the wallet's transaction. */
export function PublicationSection() {
  return (
    <div id={elementId('publication')} hidden>
      <h2>Publish it</h2>
      <p id={elementId('review-state')} />
      <ul id={elementId('review-notes')} />
      <form id={elementId('publish')} class="tall" noValidate>
        <fieldset id={elementId('missing-terms')} hidden>
          <legend>Price</legend>
          <TermsFields />
        </fieldset>
        <label>
          An example of an output, if the marketplace’s own run gave none
          <textarea data-path="listing.sample_output" rows={3} />
        </label>
        <label class="check">
          <input type="checkbox" id={elementId('unverified')} /> Publish it even if the marketplace cannot
          reach it; renters are told so
        </label>
        <ul id="publish-wrong" class="wrong" />
        <p>
          <button type="submit">Publish</button>
        </p>
      </form>
    </div>
  );
}

/** Where the secret of a connected agent is shown, once. */
export function SecretSection() {
  return (
    <div id={elementId('secret-part')} hidden>
      <h3>The webhook secret</h3>
      <p>
        Give it to your agent now, which verifies each task with it. It is shown here once; a lost one is
        replaced on the agent’s page.
      </p>
      <pre id={elementId('webhook-secret')} tabIndex={0} role="group" aria-label="The webhook secret" />
    </div>
  );
}
