import type { ComponentChildren } from 'preact';

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
