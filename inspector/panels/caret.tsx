/** Where a text goes on coming. It stands in a new place each time: that is no shift of what was there. */
export const Caret = ({ after }: { readonly after: number }) => <span key={after} class="caret" aria-hidden="true" />;
