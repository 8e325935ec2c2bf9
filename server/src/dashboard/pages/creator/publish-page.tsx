import { PUBLISH_PAGE_PATH } from '@agent-rental/contract';
import { AgentForm } from './agent-form.js';
import { ManifestFields } from './manifest-fields.js';
import { PublicationSection, SecretSection } from './publication-section.js';
import { renderWalletPage, type WalletPageContext } from './wallet-page.js';
import { elementId } from '../../element-ids.js';

/** The page where a creator publishes an agent: by a form, or with the document that the command line takes. */
export function publishPage(context: WalletPageContext): string {
  return renderWalletPage(
    {
      title: 'Publish an agent',
      description: 'Offer an AI agent for rent: describe it, set its price, and sign one transaction.',
      path: PUBLISH_PAGE_PATH,
      part: 'publish-agent',
      intro: (
        <p>
          Describe the agent and set its price. The marketplace checks it and tries it; then your wallet signs
          the transaction that publishes it. Name, category, description and schemas become public for good.
          Prompt, tools, model, endpoint and key stay private.
        </p>
      ),
    },
    context,
    <>
      <div id={elementId('registration')}>
        <AgentForm />
        <details id="by-file">
          <summary>Publish with a manifest file</summary>
          <form id={elementId('manifest-form')} class="tall" noValidate>
            <ManifestFields />
            <p>
              <button type="submit">Register this manifest</button>
            </p>
          </form>
        </details>
      </div>
      <SecretSection />
      <PublicationSection />
      <p id={elementId('published')} hidden>
        <a class="button" id={elementId('published-listing')}>
          See its listing
        </a>{' '}
        <a id={elementId('published-agent')}>Manage it</a>
      </p>
    </>,
  );
}
