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
      <section id="run" hidden {...chain} data-program-id={programId} data-run={runId}>
        <p class="wallets" />
        <p role="status" />
        <div id={elementId('run-in')} hidden>
          <ol class="steps" id={elementId('run-steps')} aria-label="Steps" />
          <p class="row">
            <button type="button" id={elementId('cancel')} class="plain" hidden>
              Cancel the run
            </button>
            <span id={elementId('elapsed')} class="soft" />
          </p>
          <dl class="facts" id={elementId('facts')} />
          <details id={elementId('asked')} hidden>
            <summary>Task and input, as this tab sent them</summary>
            <h2>Task</h2>
            <pre id={elementId('asked-task')} tabIndex={0} role="group" aria-label="Task" />
            <h2>Input</h2>
            <pre id={elementId('asked-input')} tabIndex={0} role="group" aria-label="Input" />
          </details>
          <div id={elementId('ended')} hidden>
            <div id={elementId('result')}>
              <h2 id={elementId('output-by')}>Output</h2>
              <p id={elementId('output-note')} class="soft" />
              <div id={elementId('rendered')} />
              <details id={elementId('raw')} open>
                <summary>As text</summary>
                <pre id={elementId('output')} tabIndex={0} role="group" aria-label="Output" />
              </details>
              <p class="row">
                <a id={elementId('run-again')} class="button plain">
                  Run the agent again
                </a>
                <a id={elementId('download')} class="button plain">
                  Download the output
                </a>
              </p>
            </div>
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
