import type { ComponentChildren } from 'preact';

/** What the lines and signs of the chart and of the time stand for. */
export function Legend() {
  return (
    <section class="legend" aria-label="Signs">
      <h3>Signs</h3>
      <dl>
        <Sign words="a state that it stands in">
          <rect class="stands" x="3" y="3" width="26" height="12" rx="3" />
          <circle class="filled" cx="29" cy="3" r="3" />
        </Sign>
        <Sign words="a transition that was taken">
          <path class="way" d="M2 9h26" />
        </Sign>
        <Sign words="the one just made">
          <path class="way made" d="M2 9h26" />
        </Sign>
        <Sign words="one not taken so far">
          <path class="way rest" d="M2 9h26" />
        </Sign>
        <Sign words="where a state begins">
          <circle class="grey" cx="10" cy="5" r="3" />
          <path class="way rest" d="M12 7l8 8" />
        </Sign>
        <Sign words="on an event from outside, a time-out or an error">
          <path class="way rest dashed" d="M2 9h26" />
        </Sign>
        <Sign words="a decision of Yield, in the time">
          <path class="decision" d="M16 3l5 6-5 6-5-6z" />
        </Sign>
        <Sign words="something was sent to it">
          <path class="sent" d="M10 4h12l-6 10z" />
        </Sign>
      </dl>
    </section>
  );
}

function Sign({ words, children }: { readonly words: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>
        <svg width="34" height="18" viewBox="0 0 34 18" aria-hidden="true">
          {children}
        </svg>
      </dt>
      <dd>{words}</dd>
    </div>
  );
}
