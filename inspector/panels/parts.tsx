import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { excerpt } from '../fold/text.ts';

interface SectionProps {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Section({ title, aside, children }: SectionProps) {
  return (
    <section class="stack" aria-label={title}>
      <header class="row">
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

type Fact = readonly [label: string, value: ComponentChildren];

/** A list of labels and values. A value that is false or empty has no row. */
export const Facts = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl class="facts">
    {facts.map(
      ([label, value]) =>
        value && (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
);

interface FoldedProps {
  readonly summary: ComponentChildren;
  readonly content: () => ComponentChildren;
  readonly isOpenFirst?: boolean;
}

/** Details whose content is rendered only while they are open, because a step can have much of it. */
export function Folded({ summary, content, isOpenFirst = false }: FoldedProps) {
  const [isOpen, open] = useState(isOpenFirst);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => open(currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && content()}
    </details>
  );
}

/** Copies a text, which is made when the button is pressed. */
export function CopyButton({ what, text }: { readonly what: string; readonly text: () => string }) {
  const [said, say] = useState('');
  const copy = (): void => {
    navigator.clipboard.writeText(text()).then(
      () => say('copied'),
      () => say('the browser does not allow copying'),
    );
  };
  return (
    <span class="copying">
      <span class="muted" role="status">
        {said}
      </span>{' '}
      <button type="button" class="small" onClick={copy}>
        Copy {what}
      </button>
    </span>
  );
}

export const ActorLink = ({ id }: { readonly id: string }) => (
  <a class="verbatim" href={`#/run/${encodeURIComponent(id)}`}>
    {excerpt(id, 120)}
  </a>
);
