import { shapeOfText, type OutputShape } from '../../output-shape.js';
import { Words } from '../creator-words.js';

const SAMPLE_CHARACTERS = 4_000;
const CELL_CHARACTERS = 500;

/** A sample output of an agent: a table, members or text, and the raw JSON beside the first two. */
export function Sample({ text, number }: { text: string; number: number }) {
  const shape = shapeOfText(text);
  const raw = (
    <pre tabIndex={0} role="group" aria-label={`Sample ${number}`}>
      <Words text={text} characters={SAMPLE_CHARACTERS} />
    </pre>
  );
  if (shape.kind === 'text') return raw;
  return (
    <>
      <Shape shape={shape} />
      <details>
        <summary>As JSON</summary>
        {raw}
      </details>
    </>
  );
}

function Shape({ shape }: { shape: OutputShape }) {
  switch (shape.kind) {
    case 'text':
      return <Words text={shape.text} characters={CELL_CHARACTERS} />;
    case 'table':
      return <Table {...shape} />;
    case 'members':
      return (
        <dl class="facts card">
          {shape.members.map(([name, value]) => (
            <>
              <dt>
                <Words text={name} characters={CELL_CHARACTERS} />
              </dt>
              <dd>
                <Shape shape={value} />
              </dd>
            </>
          ))}
        </dl>
      );
    default:
      return shape satisfies never;
  }
}

function Table({ columns, rows }: Extract<OutputShape, { kind: 'table' }>) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="As a table">
      <table class="wide">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                <Words text={column} characters={CELL_CHARACTERS} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>
                  <Words text={cell} characters={CELL_CHARACTERS} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
