import { useState } from 'preact/hooks';
import type { Issues } from '../../fold/output.ts';
import type { PartialValue } from '../../fold/partial-json.ts';
import { excerpt } from '../../fold/text.ts';
import { Caret, LongText } from '../long-text.tsx';

interface Props {
  readonly value: PartialValue;
  readonly path: string;
  readonly issues: Issues;
}

/** List items shown before expanding; fewer in nested lists. */
const MAX_ITEMS = 8;
const MAX_NESTED_ITEMS = 3;

export function ValueView({ value, path, issues }: Props) {
  if (value.kind === 'text')
    return value.text === '' && !value.open ? (
      <span class="muted">(empty)</span>
    ) : (
      <span class="leaf">
        <LongText {...value} />
      </span>
    );
  if (value.kind === 'number' || value.kind === 'word')
    return (
      <span class="leaf mono">
        {excerpt(value.text, 60)}
        {value.open && <Caret after={value.text.length} />}
      </span>
    );
  return <Parts value={value} path={path} issues={issues} />;
}

type Nest = Extract<PartialValue, { readonly kind: 'list' | 'members' }>;

function Parts({ value, path, issues }: Props & { readonly value: Nest }) {
  const [isExpanded, setExpanded] = useState(false);
  const all =
    value.kind === 'list'
      ? value.items.map((item, index) => ({ name: String(index), value: item }))
      : value.members.map((member) => ({ name: member.name, value: member.value }));
  const max = value.kind === 'list' && path.includes('.') ? MAX_NESTED_ITEMS : MAX_ITEMS;
  // While a list grows, its newest items are shown.
  const first = value.kind === 'list' && value.open ? Math.max(0, all.length - max) : 0;
  const parts = isExpanded ? all : all.slice(first, first + max);
  const shown = new Set(parts.map(({ name }) => `${path}.${name}`));
  const elsewhere = issues.within(path).filter((issue) => ![...shown].some((index) => isAt(issue.path, index)));
  if (all.length === 0 && elsewhere.length === 0)
    return <span class="muted">{value.open ? <Caret after={0} /> : value.kind === 'list' ? '(none)' : '(empty)'}</span>;
  return (
    <div class={value.kind}>
      {parts.map((part) => (
        <div key={part.name} class="part">
          <span class="muted part-name verbatim">
            {value.kind === 'list' ? Number(part.name) + 1 : excerpt(part.name, 60)}
          </span>
          <div class="part-value">
            {part.value === null ? (
              <Caret after={0} />
            ) : (
              <ValueView value={part.value} path={`${path}.${part.name}`} issues={issues} />
            )}
            <IssueList messages={issues.at(`${path}.${part.name}`)} />
          </div>
        </div>
      ))}
      {all.length > max && (
        <button type="button" class="link-button" onClick={() => setExpanded(!isExpanded)}>
          {isExpanded ? 'show less' : `show all ${all.length}`}
        </button>
      )}
      <IssueList messages={elsewhere.slice(0, MAX_ITEMS).map((issue) => `${issue.path}: ${issue.message}`)} />
    </div>
  );
}

const isAt = (path: string, index: string): boolean => path === index || path.startsWith(`${index}.`);

export function IssueList({ messages }: { readonly messages: readonly string[] }) {
  return (
    <>
      {messages.map((message) => (
        <p key={message} class="wrong verbatim">
          <span class="visually-hidden">invalid: </span>
          {excerpt(message, 300)}
        </p>
      ))}
    </>
  );
}
