// Files that open as data sets, as labdl.data.open_dataset knows them.

/** Tables, archives, manifests and annotations; folders hold everything else. */
const SUFFIXES =
  /\.(arrow|csv|h5|hdf5|json|jsonl|npz|parquet|tar|tfrecord|tfrecords|tsv|txt)$/i;

export function opensAsData(item: { type: string; name: string }): boolean {
  return item.type === 'directory' || SUFFIXES.test(item.name);
}
