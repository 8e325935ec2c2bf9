import { renderPage } from '../page.js';
import { PAGE_SCRIPT_URL } from '../page-script.js';
import { NeedsScript, type WalletPageContent } from './home-page.js';
import { elementId } from '../../element-ids.js';

/** The page of one run, which the script fills: its state, its output as text, and its receipt. */
export function runPage({
  baseUrl,
  chain,
  programId,
  nonce,
  runId,
}: WalletPageContent & { runId: string; programId: string }): string {
  const head = {
    title: 'Run',
    description: 'A run of an agent: its output, its cost, and its receipt.',
    url: `${baseUrl}/dashboard/runs/${runId}`,
    script: { source: PAGE_SCRIPT_URL, nonce },
    isDashboard: true,
  };
  return renderPage(
    head,
    <>
      <h1>Run</h1>
      <p class="soft">
        <code>{runId}</code>
      </p>
      <NeedsScript />
      <section id="run" hidden data-chain={chain} data-program-id={programId} data-run={runId}>
        <p class="wallets" />
        <p role="status" />
        <div id={elementId('run-in')} hidden>
          <dl class="facts" id={elementId('facts')} />
          <p>
            <button type="button" id={elementId('cancel')} hidden>
              Cancel the run
            </button>
          </p>
          <div id={elementId('ended')} hidden>
            <h2>Output</h2>
            <p id={elementId('output-note')} class="soft" />
            <div id={elementId('rendered')} />
            <details id={elementId('raw')} open>
              <summary>As text</summary>
              <pre id={elementId('output')} tabIndex={0} aria-label="Output" />
            </details>
            <p class="row">
              <a id={elementId('run-again')} class="button plain">
                Run the agent again
              </a>
              <a id={elementId('download')} class="button plain">
                Download the output
              </a>
            </p>
            <h2>Receipt</h2>
            <p>
              The service signs a receipt of each run, and records the run on Solana. Your browser can verify
              both.
            </p>
            <p>
              <button type="button" id={elementId('verify')}>
                Verify the receipt
              </button>
            </p>
            <div id={elementId('verified')} />
          </div>
        </div>
      </section>
    </>,
  );
}
