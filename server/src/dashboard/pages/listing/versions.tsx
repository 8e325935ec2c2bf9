import { VERSION_NOTES_CHARACTERS, type PublicVersion } from '@agent-rental/contract';
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
            <tr key={version.version}>
              <td>{version.version}</td>
              <td>{version.created_at.slice(0, 10)}</td>
              <td>
                <Change version={version} />
                {version.notes === undefined ? null : (
                  <p>
                    <Words text={version.notes} characters={VERSION_NOTES_CHARACTERS} />
                  </p>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Change({ version: { version: number, change } }: { version: PublicVersion }) {
  if (change === null) return <>{number === 1 ? 'First version' : 'Not compared'}</>;
  if (change.kind === 'compatible') return <>Compatible with the version before</>;
  const left = change.reasons.length - MOST_REASONS;
  return (
    <>
      Breaking: some calls that worked before may be refused
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
