import type { ComponentProps } from 'preact';

/** A button inside text. */
export const LinkButton = (props: Omit<ComponentProps<'button'>, 'type' | 'class'>) => (
  <button type="button" class="link-button" {...props} />
);

interface ToggleProps {
  readonly isOpen: boolean;
  readonly open: (isOpen: boolean) => void;
  readonly more: string;
  readonly less?: string;
}

/** Expands truncated content, or truncates it again. */
export const Toggle = ({ isOpen, open, more, less = 'show less' }: ToggleProps) => (
  <LinkButton aria-expanded={isOpen} onClick={() => open(!isOpen)}>
    {isOpen ? less : more}
  </LinkButton>
);
