/** Where stores are: local disks, file systems of Hadoop or of Flink, web servers. */
@NullMarked
package tech.bsdb.flink.place;

import org.jspecify.annotations.NullMarked;
