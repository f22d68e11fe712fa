import { useState } from 'preact/hooks';
import type { GrowingValue } from '../../fold/growing-json.ts';
import type { Issues } from '../../fold/output.ts';
import { shortly } from '../../ui-state/text.ts';
import { Caret, LongText } from '../long-text.tsx';

interface Props {
  readonly value: GrowingValue;
  readonly path: string;
  readonly issues: Issues;
}

/** List items shown before expanding; fewer in nested lists. */
const MOST_ITEMS = 8;
const MOST_WITHIN = 3;

/** A value as far as received, with the issues of each part. */
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
        {shortly(value.text, 60)}
        {value.open && <Caret after={value.text.length} />}
      </span>
    );
  return <Parts value={value} path={path} issues={issues} />;
}

type Nest = Extract<GrowingValue, { readonly kind: 'list' | 'members' }>;

function Parts({ value, path, issues }: Props & { readonly value: Nest }) {
  const [isWhole, setWhole] = useState(false);
  const all =
    value.kind === 'list'
      ? value.items.map((item, place) => ({ name: String(place), value: item }))
      : value.members.map((member) => ({ name: member.name, value: member.value }));
  const most = value.kind === 'list' && path.includes('.') ? MOST_WITHIN : MOST_ITEMS;
  // While a list grows, its newest items are those to look at.
  const first = value.kind === 'list' && value.open ? Math.max(0, all.length - most) : 0;
  const parts = isWhole ? all : all.slice(first, first + most);
  const shown = new Set(parts.map(({ name }) => `${path}.${name}`));
  const elsewhere = issues.within(path).filter((issue) => ![...shown].some((place) => isAt(issue.path, place)));
  if (all.length === 0 && elsewhere.length === 0)
    return <span class="muted">{value.open ? <Caret after={0} /> : value.kind === 'list' ? '(none)' : '(empty)'}</span>;
  return (
    <div class={value.kind}>
      {parts.map((part) => (
        <div key={part.name} class="part">
          <span class="muted part-name told">
            {value.kind === 'list' ? Number(part.name) + 1 : shortly(part.name, 60)}
          </span>
          <div class="part-value">
            {part.value === null ? (
              <Caret after={0} />
            ) : (
              <ValueView value={part.value} path={`${path}.${part.name}`} issues={issues} />
            )}
            <WhatIsWrong messages={issues.at(`${path}.${part.name}`)} />
          </div>
        </div>
      ))}
      {all.length > most && (
        <button type="button" class="quiet" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'show less' : `show all ${all.length}`}
        </button>
      )}
      <WhatIsWrong messages={elsewhere.slice(0, MOST_ITEMS).map((issue) => `${issue.path}: ${issue.message}`)} />
    </div>
  );
}

const isAt = (path: string, place: string): boolean => path === place || path.startsWith(`${place}.`);

export function WhatIsWrong({ messages }: { readonly messages: readonly string[] }) {
  return (
    <>
      {messages.map((message) => (
        <p key={message} class="wrong told">
          <span class="unseen">wrong: </span>
          {shortly(message, 300)}
        </p>
      ))}
    </>
  );
}
