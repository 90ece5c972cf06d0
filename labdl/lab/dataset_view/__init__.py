"""The view of a data set: samples as they are drawn, statistics, previews of transforms; for the Data panel and `lab.Data`."""
