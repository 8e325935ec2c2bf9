import type { PublicVersion } from '../../../listings/index.js';
import { Words } from '../creator-words.js';

const MOST_REASONS = 5;
const REASON_CHARACTERS = 300;

/** The latest versions of an agent, and what each one changed for its renters. */
export function Versions({ versions }: { versions: readonly PublicVersion[] }) {
  return (
    <div class="scroll versions" tabIndex={0} role="region" aria-label="Versions">
      <table class="wide">
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">Day</th>
            <th scope="col">Change</th>
          </tr>
        </thead>
        <tbody>
          {versions.map((version) => (
            <tr key={version.number}>
              <td>{version.number}</td>
              <td>{version.createdAt.toISOString().slice(0, 10)}</td>
              <td>
                <Change version={version} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Change({ version: { number, change } }: { version: PublicVersion }) {
  if (change === null) return <>{number === 1 ? 'First version' : 'Not compared'}</>;
  if (change.kind === 'compatible') return <>Compatible with the version before</>;
  const left = change.reasons.length - MOST_REASONS;
  return (
    <>
      Breaking for some who call it as it was
      <ul>
        {change.reasons.slice(0, MOST_REASONS).map((reason) => (
          <li key={reason}>
            <Words text={reason} characters={REASON_CHARACTERS} />
          </li>
        ))}
        {left > 0 ? <li>{left} more</li> : null}
      </ul>
    </>
  );
}
