// Address of the bytes of a sound or a picture, valid in this page until it is revoked.

import type { MediaAnswer } from '../../api/data';

export function mediaUrl({ mime, data }: MediaAnswer): string {
  const letters = atob(data);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) {
    bytes[i] = letters.charCodeAt(i);
  }
  return URL.createObjectURL(new Blob([bytes], { type: mime }));
}
