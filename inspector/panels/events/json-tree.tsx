import { useState } from 'preact/hooks';
import { grouped, shortly, visible } from '../../shown/text.ts';
import { Icon } from '../icon.tsx';

/** What is small and not deep is open from the beginning. */
const OPEN_DEPTH = 2;
const OPEN_MEMBERS = 12;
const SHOWN_MEMBERS = 100;
const SHOWN_CHARS = 240;

/** The members of an object or a list, each on a line of its own. No more are there than are open. */
export function JsonMembers({ value, depth }: { readonly value: object; readonly depth: number }) {
  const [shown, show] = useState(SHOWN_MEMBERS);
  const names = Object.keys(value);
  return (
    <ul>
      {names.slice(0, shown).map((name) => (
        <li key={name}>
          <JsonMember name={name} value={(value as Readonly<Record<string, unknown>>)[name]} depth={depth} />
        </li>
      ))}
      {names.length > shown && (
        <li>
          <button type="button" class="more" onClick={() => show(shown + SHOWN_MEMBERS)}>
            {grouped(names.length - shown)} more
          </button>
        </li>
      )}
    </ul>
  );
}

interface MemberProps {
  readonly name: string;
  readonly value: unknown;
  readonly depth: number;
}

function JsonMember({ name, value, depth }: MemberProps) {
  if (typeof value === 'object' && value !== null) return <JsonBranch name={name} value={value} depth={depth} />;
  return (
    <>
      <span class="name">{shortly(name, 80)}</span> <JsonLeaf value={value} />
    </>
  );
}

function JsonBranch({ name, value, depth }: { readonly name: string; readonly value: object; readonly depth: number }) {
  const size = Array.isArray(value) ? value.length : Object.keys(value).length;
  const [turned, turn] = useState<boolean | null>(null);
  const isOpen = size > 0 && (turned ?? (depth < OPEN_DEPTH && size <= OPEN_MEMBERS));
  return (
    <>
      <button type="button" class="branch" aria-expanded={isOpen} disabled={size === 0} onClick={() => turn(!isOpen)}>
        <Icon name={isOpen ? 'open' : 'shut'} /> <span class="name">{shortly(name, 80)}</span>{' '}
        <span class="muted">{outline(value, size, isOpen)}</span>
      </button>
      {isOpen && <JsonMembers value={value} depth={depth + 1} />}
    </>
  );
}

function JsonLeaf({ value }: { readonly value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== 'string') return <span class="number">{String(value)}</span>;
  const isLong = value.length > SHOWN_CHARS;
  return (
    <>
      <span class="told text">{visible(isLong && !isWhole ? `${value.slice(0, SHOWN_CHARS)}…` : value)}</span>
      {isLong && (
        <button type="button" class="more" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'show less' : `show all, ${grouped(value.length)} characters`}
        </button>
      )}
    </>
  );
}

/** What is in it, at a glance. */
function outline(value: object, size: number, isOpen: boolean): string {
  if (Array.isArray(value)) return size === 0 ? '[]' : `[${grouped(size)}]`;
  if (size === 0) return '{}';
  return isOpen ? '' : `{${shortly(Object.keys(value).slice(0, 6).join(', '), 60)}${size > 6 ? ', …' : ''}}`;
}
