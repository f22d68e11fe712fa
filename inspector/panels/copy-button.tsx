import { useState } from 'preact/hooks';

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
