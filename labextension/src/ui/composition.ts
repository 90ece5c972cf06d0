// Keys of input methods, such as those of Chinese and Japanese.

/**
 * Whether a key belongs to an input method: the Enter that takes a candidate is not the Enter that confirms a field.
 * Safari reports that Enter after the end of the composition, with the key code of input methods.
 */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}

/**
 * Keeps the keys of input methods from all key handlers of the elements that `isOwn` names, so that no field has to
 * ask. Code editors need them and get them. Returns a function that ends this.
 */
export function ignoreComposition(
  isOwn: (element: Element) => boolean
): () => void {
  const decide = (event: KeyboardEvent) => {
    const [target] = event.composedPath();
    if (
      isComposing(event) &&
      target instanceof Element &&
      !target.closest('.cm-editor') &&
      isOwn(target)
    ) {
      event.stopPropagation();
    }
  };
  window.addEventListener('keydown', decide, true);
  return () => window.removeEventListener('keydown', decide, true);
}
