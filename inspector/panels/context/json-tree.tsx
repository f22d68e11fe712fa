import { useState } from 'preact/hooks';
import { counted, visible } from '../../shown/text.ts';
import { shortJson } from './short-json.ts';

/** So many members are drawn; more on demand. */
const FEW = 100;
const OPEN_DEPTH = 2;

interface JsonTreeProps {
  readonly value: unknown;
  /** What it is called where it stands; null at the top. */
  readonly name: string | null;
  readonly depth: number;
}

/** A JSON value; what is inside is drawn when it is opened. */
export function JsonTree({ value, name, depth }: JsonTreeProps) {
  const [open, setOpen] = useState(depth < OPEN_DEPTH);
  const [most, setMost] = useState(FEW);
  const label = name === null ? null : <code class="told">{visible(name.slice(0, 200))}: </code>;
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0)
    return (
      <p class="json told">
        {label}
        <span class={`json-${value === null ? 'null' : typeof value}`}>{shortJson(value, 2_000)}</span>
      </p>
    );
  const names = Object.keys(value);
  return (
    <details class="json" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {label}
        <span class="muted">
          {Array.isArray(value) ? `[${counted(names.length, 'item')}]` : `{${counted(names.length, 'member')}}`}
        </span>
      </summary>
      {open &&
        names
          .slice(0, most)
          .map((member) => (
            <JsonTree
              key={member}
              name={member}
              value={(value as Readonly<Record<string, unknown>>)[member]}
              depth={depth + 1}
            />
          ))}
      {open && names.length > most && (
        <button type="button" class="quiet" onClick={() => setMost(most + FEW)}>
          {counted(names.length - most, 'more member')}
        </button>
      )}
    </details>
  );
}
