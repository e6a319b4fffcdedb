"""What ``shapedsl convert`` is made of: which files, one file, several processes, writing and taking back, reports."""
