import { useState } from 'preact/hooks';
import { formatNumber } from '../fold/format.ts';
import { excerpt } from '../fold/text.ts';
import { Icon } from '../icon.tsx';
import { LinkButton } from '../link-button.tsx';
import './json-tree.css';
import { LongText } from './long-text.tsx';

const OPEN_DEPTH = 2;
const OPEN_MEMBERS = 12;
const SHOWN_MEMBERS = 100;
const SHOWN_CHARS = 240;

/** Only expanded members are rendered. */
export function JsonTree({ value }: { readonly value: unknown }) {
  return (
    <div class="json mono">{isNest(value) ? <JsonMembers value={value} depth={0} /> : <JsonLeaf value={value} />}</div>
  );
}

function JsonMembers({ value, depth }: { readonly value: object; readonly depth: number }) {
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
          <LinkButton onClick={() => show(shown + SHOWN_MEMBERS)}>{formatNumber(names.length - shown)} more</LinkButton>
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
  const [toggled, toggle] = useState<boolean | null>(null);
  const label = <span class="name muted">{excerpt(name, 80)}</span>;
  if (!isNest(value))
    return (
      <>
        {label}: <JsonLeaf value={value} />
      </>
    );
  const size = sizeOf(value);
  const isOpen = toggled ?? (depth < OPEN_DEPTH && size <= OPEN_MEMBERS);
  return (
    <>
      <button type="button" class="plain" aria-expanded={isOpen} onClick={() => toggle(!isOpen)}>
        <Icon name={isOpen ? 'expanded' : 'collapsed'} /> {label}:{' '}
        <span class="muted">{outline(value, size, isOpen)}</span>
      </button>
      {isOpen && <JsonMembers value={value} depth={depth + 1} />}
    </>
  );
}

function JsonLeaf({ value }: { readonly value: unknown }) {
  if (typeof value === 'string') return <LongText text={value} chars={SHOWN_CHARS} quoted />;
  return <span class="word">{typeof value === 'object' ? JSON.stringify(value) : String(value)}</span>;
}

const isNest = (value: unknown): value is object => typeof value === 'object' && value !== null && sizeOf(value) > 0;

const sizeOf = (value: object): number => (Array.isArray(value) ? value.length : Object.keys(value).length);

function outline(value: object, size: number, isOpen: boolean): string {
  if (Array.isArray(value)) return `[${formatNumber(size)}]`;
  return isOpen ? '' : `{${excerpt(Object.keys(value).slice(0, 6).join(', '), 60)}${size > 6 ? ', …' : ''}}`;
}
